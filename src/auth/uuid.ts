/** Whether a value is a UUID as text (RFC 9562 §4). */
export function isUUID(value: unknown): value is string {
  return typeof value === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value)
}
