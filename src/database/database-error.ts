/** The database cannot be used. The message is for the operator. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
  readonly code = 'DATABASE'
}

/** The code of a database error, or `no response`. Do not show the message of the error, because it may contain SQL with values. */
export function errorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'no response'
}
