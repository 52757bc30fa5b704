/** The database cannot be used. The message is one sentence for the operator. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
  readonly code = 'DATABASE'
}

/** The code of a database error. Its message may contain SQL with values and must not be shown. */
export function errorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'no response'
}
