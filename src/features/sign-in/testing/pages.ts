import { type PageExamples, payload } from '../../../testing/page-examples.ts'

/** States of the pages. */
export const examples: PageExamples = {
  'sign-in': [
    { next: payload, notice: payload, passkeyOptions: payload },
    {
      values: { username: payload, remember: true },
      next: payload,
      errors: [{ field: 'username', detail: payload }],
    },
  ],
  'sign-in-code': [
    { errors: [], isRecovery: false },
    { errors: [{ field: 'code', detail: payload }, { detail: payload }], isRecovery: true, next: payload },
  ],
}
