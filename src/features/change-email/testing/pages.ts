import { type PageExamples, payload } from '../../../testing/page-examples.ts'

/** States of the page. */
export const examples: PageExamples = {
  'change-email': [
    { needsPassword: false, email: '' },
    {
      needsPassword: true,
      email: payload,
      errors: [
        { field: 'email', detail: payload },
        { field: 'password', detail: payload },
      ],
    },
  ],
}
