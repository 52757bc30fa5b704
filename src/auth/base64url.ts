/** Whether a value is text in strict base64url (RFC 7515 §2, RFC 4648 §3.5). Node decodes leniently, so several texts would have the same bytes. */
export function isBase64url(value: unknown): value is string {
  if (typeof value !== 'string' || value === '') return false
  return Buffer.from(value, 'base64url').toString('base64url') === value
}
