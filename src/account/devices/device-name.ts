import bowser from 'bowser'

// For an unknown browser, the library `bowser` returns text from the header, which an attacker can choose.
const browsers = new Set<string | undefined>(Object.values(bowser.BROWSER_MAP))

/**
 * Describes a `User-Agent`: `Firefox on Windows`, `Safari on iPhone`, `A program (curl)`. Clients can forge it, so it is
 * a hint only.
 */
export function deviceName(userAgent: string): string {
  if (userAgent === '') return 'An unknown device'
  // Browsers send about 150 characters. Longer text can take milliseconds.
  const { browser, os, platform } = bowser.parse(userAgent.slice(0, 500))
  const system = platform.vendor === 'Apple' && platform.model ? platform.model : os.name
  if (browsers.has(browser.name)) return system ? `${browser.name} on ${system}` : `${browser.name}`
  const program = /^[a-z][\w.-]{0,29}(?=\/|$)/i.exec(userAgent)?.[0]
  if (program && program !== 'Mozilla') return `A program (${program})`
  return system ? `A browser on ${system}` : 'An unknown device'
}
