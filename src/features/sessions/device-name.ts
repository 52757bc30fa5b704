import bowser from 'bowser'

// Of a browser that it does not know, bowser repeats what the browser says.
const browsers = new Set<string | undefined>(Object.values(bowser.BROWSER_MAP))

/**
 * A device in words, from what it says of itself: `Firefox on Windows`, `Safari on iPhone`, `A program (curl)`. That is a
 * hint for whoever owns the device, and proves nothing.
 */
export function deviceName(userAgent: string): string {
  if (userAgent === '') return 'An unknown device'
  const { browser, os, platform } = bowser.parse(userAgent)
  const system = platform.vendor === 'Apple' && platform.model ? platform.model : os.name
  if (browsers.has(browser.name)) return system ? `${browser.name} on ${system}` : `${browser.name}`
  const program = /^[a-z][\w.-]{0,29}(?=\/|$)/i.exec(userAgent)?.[0]
  if (program && program !== 'Mozilla') return `A program (${program})`
  return system ? `A browser on ${system}` : 'An unknown device'
}
