const MAXIMUM_CODE_POINTS = 100
// Control characters, line and paragraph separators, and those that turn the direction of all the text behind them.
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u
// Spaces, joiners, fillers and blanks: a name of these alone cannot be seen.
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Z}\u2800]/gu

/** What is wrong with a name that has been trimmed, as a sentence for the person; `undefined` if nothing is. */
export function nameProblem(name: string): string | undefined {
  if (name === '') return 'Enter a name.'
  // Two code units at most make a code point: what is longer than this need not be counted.
  if (name.length > 2 * MAXIMUM_CODE_POINTS || [...name].length > MAXIMUM_CODE_POINTS) {
    return `The name must have ${MAXIMUM_CODE_POINTS} characters or fewer.`
  }
  if (!name.isWellFormed() || UNPRINTABLE.test(name))
    return 'The name contains a character that cannot be printed.'
  if (name.replace(INVISIBLE, '') === '') return 'The name must contain a character that can be seen.'
  return undefined
}
