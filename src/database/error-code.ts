/** Why a database did not do something. A driver's message may hold statements with values; its code says enough. */
export function errorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'it does not answer'
}
