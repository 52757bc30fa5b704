import { type PageExamples, payload } from '../../../testing/page-examples.ts'

/** States of the pages. */
export const examples: PageExamples = {
  continue: [{ url: `https://sso.example.com/?${encodeURIComponent(payload)}`, label: payload }],
  'sign-up-with': [
    { label: payload, values: { name: payload, email: payload }, signUp: payload, next: payload },
    {
      label: payload,
      values: { name: '', email: '' },
      signUp: payload,
      errors: [{ field: 'email', detail: payload }],
    },
  ],
}
