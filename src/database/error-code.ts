/** The code of a database error. Its message may contain SQL with values and must not be shown. */
export function errorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'it does not answer'
}
