import type { Page, Request } from '@playwright/test'
import { expect } from './site.ts'

/**
 * Records the finished requests of the page, because others may still be open when the test ends. The returned function fails if a
 * recorded request has the token in its `Referer`.
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
