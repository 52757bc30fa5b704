/** One word of a POSIX shell command, whatever is in it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
]

/** A moment in words: `21 November 2026 at 09:02 UTC`. `Intl`, which knows all languages, takes longer. */
export function full(moment: Date): string {
  const date = `${moment.getUTCDate()} ${months[moment.getUTCMonth()]} ${moment.getUTCFullYear()}`
  return `${date} at ${moment.toISOString().slice(11, 16)} UTC`
}
