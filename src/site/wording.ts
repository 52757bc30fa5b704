/** Quotes any text as one word of a POSIX shell command. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
]

/** Formats a date as `21 November 2026 at 09:02 UTC`. It is faster than `Intl`. */
export function full(moment: Date): string {
  const date = `${moment.getUTCDate()} ${months[moment.getUTCMonth()]} ${moment.getUTCFullYear()}`
  return `${date} at ${moment.toISOString().slice(11, 16)} UTC`
}

/** Formats a date as `21 Nov 2026`. */
export function day(moment: Date): string {
  return `${moment.getUTCDate()} ${months[moment.getUTCMonth()]?.slice(0, 3)} ${moment.getUTCFullYear()}`
}

/** Formats a date as `21 Nov, 09:02 UTC`. */
export function moment(moment: Date): string {
  return `${day(moment).slice(0, -5)}, ${moment.toISOString().slice(11, 16)} UTC`
}

/** Formats a past date as `2 minutes ago`, or as `21 Nov 2026` if it is more than 30 whole days ago. */
export function ago(moment: Date, now = Date.now()): string {
  const minutes = Math.floor((now - moment.getTime()) / 60_000)
  if (minutes < 1) return 'just now'
  if (minutes < 60) return count(minutes, 'minute')
  if (minutes < 24 * 60) return count(Math.floor(minutes / 60), 'hour')
  const days = Math.floor(minutes / (24 * 60))
  return days <= 30 ? count(days, 'day') : day(moment)
}

function count(number: number, unit: string): string {
  return `${number} ${unit}${number === 1 ? '' : 's'} ago`
}

/** The first letters of the first and the last word of a name, such as `GH`. */
export function initials(name: string): string {
  const words = name.trim().split(/\s+/)
  const ends = words.length > 1 ? [words[0], words.at(-1)] : words
  return ends
    .map((word = '') => [...word.slice(0, 2)][0] ?? '')
    .join('')
    .toLocaleUpperCase('en')
}
