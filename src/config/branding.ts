import { UNPRINTABLE } from '../users/person-name.ts'
import type { VariableType } from './environment.ts'

export interface BrandColor {
  /** For light pages: the given colour, or a darker variant if links would be hard to read. */
  readonly light: string
  /** For dark pages: the given colour, or a lighter variant. */
  readonly dark: string
}

/** A line of text of at most `maxLength` characters. */
export function label(maxLength: number): VariableType<string> {
  return {
    expected: `a text of at most ${maxLength} characters, without control characters`,
    parse: (text) => ([...text].length <= maxLength && !UNPRINTABLE.test(text) ? text : undefined),
  }
}

export const contact: VariableType<string> = {
  expected: 'an https or mailto URL, such as https://example.com/help or mailto:help@example.com',
  parse(text) {
    const url = URL.parse(text)
    if (!url || url.username || url.password) return undefined
    const isMailbox = url.protocol === 'mailto:' && /^[^@]+@[^@]+$/.test(url.pathname)
    return url.protocol === 'https:' || isMailbox ? url.href : undefined
  },
}

export const brandColor: VariableType<BrandColor> = {
  expected: 'a colour with six hexadecimal digits, such as #0b6a4e',
  parse(text) {
    if (!/^#[\da-f]{6}$/i.test(text)) return undefined
    const given = text.toLowerCase()
    return {
      light: toContrast(given, { surface: lightSurface, towards: 0 }),
      dark: toContrast(given, { surface: darkSurface, towards: 255 }),
    }
  },
}

// `lightSurface` is darker than the light surfaces of public/style.css, and `darkSurface` is lighter than the dark ones, because
// some surfaces are tinted with the accent colour.
const lightSurface = '#e6ecea'
const darkSurface = '#24302b'

/** Mixes a colour with black (0) or white (255) until it has the contrast of readable text (WCAG 2.2, 1.4.3). */
function toContrast(color: string, { surface, towards }: { surface: string; towards: 0 | 255 }): string {
  let mixed = color
  for (let percent = 1; contrast(mixed, surface) < 4.5; percent += 1) {
    const mix = (channel: number) => Math.round(channel + ((towards - channel) * percent) / 100)
    mixed = `#${Buffer.from(channelsOf(color).map(mix)).toString('hex')}`
  }
  return mixed
}

/** The contrast of two colours, from 1 to 21 (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio). */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color).map((channel) => {
    const share = channel / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function channelsOf(color: string): number[] {
  return [...Buffer.from(color.slice(1), 'hex')]
}
