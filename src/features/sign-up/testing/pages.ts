import { type PageExamples, payload } from '../../../testing/page-examples.ts'

/** States of the page. */
export const examples: PageExamples = {
  'sign-up': [
    { values: { name: '', email: '' } },
    {
      values: { name: payload, email: payload },
      errors: [{ field: 'email', detail: payload }, { detail: payload }],
    },
  ],
}
