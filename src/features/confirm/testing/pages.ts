import { type PageExamples, payload } from '../../../testing/page-examples.ts'

/** States of the page. */
export const examples: PageExamples = {
  confirm: [
    {
      next: undefined,
      passkeyOptions: undefined,
      back: '/account',
      purpose: payload,
      errors: [],
      hasApp: false,
      hasPassword: false,
      connected: [payload],
    },
    {
      next: payload,
      back: '/account',
      purpose: payload,
      hasApp: true,
      hasPassword: true,
      connected: [],
      passkeyOptions: payload,
      errors: [{ field: 'code', detail: payload }, { detail: payload }],
    },
  ],
}
