import type { ConsoleMessage, Page } from '@playwright/test'

/**
 * Collects what no page of ours may do: ask another origin for anything, load something in vain, throw, or have the
 * browser complain in its console, as it does of a breach of the content security policy.
 */
export function watch(page: Page, origin: string): string[] {
  const complaints: string[] = []
  const documents = new Set<string>()

  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) complaints.push(`asked for ${request.url()}`)
    if (request.isNavigationRequest()) documents.add(request.url())
  })
  page.on('pageerror', ({ message }) => complaints.push(`threw: ${message}`))
  page.on('console', (message) => {
    if (!isComplaint(message)) return
    // The browser notes there, too, that a page came with 401 or 404, as ours are meant to.
    if (message.text().startsWith('Failed to load resource') && documents.has(message.location().url)) return
    complaints.push(`${message.type()}: ${message.text()}`)
  })
  return complaints
}

function isComplaint(message: ConsoleMessage): boolean {
  return message.type() === 'error' || message.type() === 'warning'
}
