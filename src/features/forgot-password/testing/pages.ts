import { type PageExamples, payload } from '../../../testing/page-examples.ts'

/** States of the pages. */
export const examples: PageExamples = {
  forgot: [
    { email: '' },
    { email: payload, errors: [{ field: 'email', detail: payload }, { detail: payload }] },
  ],
  'forgot-sent': [{}],
}
