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

/** Makes one line of at most `most` characters, without control, bidirectional or invisible characters. */
export function printable(text: string, most: number): string {
  const line = text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
  // The cut may split a surrogate pair.
  return line.slice(0, most).toWellFormed()
}
