/**
 * Text from outside as it may be written down and shown: one line of at most so many characters, in which nothing ends a
 * line, commands a terminal or turns text around.
 */
export function printable(text: string, most: number): string {
  const line = text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
  // The cut may go through the middle of a character.
  return line.slice(0, most).toWellFormed()
}
