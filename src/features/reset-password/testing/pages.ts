import { type PageExamples, payload } from '../../../testing/page-examples.ts'

/** States of the page. */
export const examples: PageExamples = {
  reset: [
    {
      token: payload,
      email: payload,
      isFirst: true,
      keepsFactors: false,
      hasApp: true,
      passkeys: [],
      identities: [payload],
    },
    {
      token: payload,
      email: payload,
      isFirst: false,
      keepsFactors: true,
      hasApp: true,
      passkeys: [payload, payload],
      identities: [payload],
      errors: [{ field: 'password', detail: payload }, { detail: payload }],
    },
  ],
}
