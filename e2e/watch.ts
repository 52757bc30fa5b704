import type { ConsoleMessage, Page } from '@playwright/test'

/**
 * Collects errors of a page: requests to other origins, exceptions, and errors and warnings in the console, for example
 * about a failed request.
 */
export function watch(page: Page, origin: string): string[] {
  const complaints: string[] = []
  const documents = new Set<string>()

  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) complaints.push(`requested ${request.url()}`)
    if (request.isNavigationRequest()) documents.add(request.url())
  })
  page.on('pageerror', ({ message }) => complaints.push(`threw: ${message}`))
  page.on('console', (message) => {
    if (!isComplaint(message)) return
    // Chromium logs every 4xx and 5xx. The status of a page itself is often intended.
    if (message.text().startsWith('Failed to load resource') && documents.has(message.location().url)) return
    complaints.push(`${message.type()}: ${message.text()}`)
  })
  return complaints
}

function isComplaint(message: ConsoleMessage): boolean {
  return message.type() === 'error' || message.type() === 'warning'
}
