const MAXIMUM_CODE_POINTS = 100
/** Control characters, line and paragraph separators, and bidirectional embeddings, overrides and isolates. */
export const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u
// Spaces, joiners, fillers and blanks.
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Z}\u2800]/gu

/** The problem of a trimmed name, as a sentence for the user. `undefined` if it is valid. */
export function nameProblem(name: string): string | undefined {
  if (name === '') return 'Enter a name.'
  // A code point has at most two code units, so the first condition rejects a huge text without splitting it.
  if (name.length > 2 * MAXIMUM_CODE_POINTS || [...name].length > MAXIMUM_CODE_POINTS) {
    return `The name must have ${MAXIMUM_CODE_POINTS} characters or fewer.`
  }
  if (!name.isWellFormed() || UNPRINTABLE.test(name))
    return 'The name contains a character that cannot be printed.'
  if (name.replace(INVISIBLE, '') === '') return 'The name must contain a character that can be seen.'
  return undefined
}
