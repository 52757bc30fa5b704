import type { Page, Request } from '@playwright/test'
import { expect } from './site.ts'

/**
 * Records the requests of the page. The returned function fails if one of them has the token in its `Referer`.
 * It reads the headers of finished requests only, because other requests may be open when the test ends.
 */
export function watchReferrers(page: Page, token: string): () => Promise<void> {
  const requests: Request[] = []
  page.on('requestfinished', (request) => requests.push(request))

  return async () => {
    expect(requests.length).toBeGreaterThan(3)
    const referrers = await Promise.all(requests.map((request) => request.headerValue('referer')))
    expect(referrers.filter((referrer) => referrer?.includes(token))).toEqual([])
  }
}
