/**
 * The bytes behind base64url text, and nothing lenient about it (RFC 7515 §2, RFC 4648 §3.5): `undefined` if the text is
 * not the one encoding of its bytes, so no padding, white space, `+`, `/` or stray bits in the last character.
 */
export function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  // Node decodes leniently.
  return bytes.toString('base64url') === text ? bytes : undefined
}
