import { type PageExamples, payload } from '../../../testing/page-examples.ts'

/** States of the pages. */
export const examples: PageExamples = {
  'totp-start': [{}],
  'totp-set-up': [
    {
      secret: payload,
      uri: `otpauth://totp/${encodeURIComponent(`x:ada@example.com`)}?secret=AAAA`,
      qr: { path: payload, size: 57 },
      errors: [{ field: 'code', detail: payload }],
    },
  ],
  'recovery-codes': [{ codes: [payload, payload], notice: payload }],
}
