import { type PageExamples, payload } from '../../../testing/page-examples.ts'

/** States of the page. */
export const examples: PageExamples = {
  'change-password': [
    { hasPassword: true, tokens: 0 },
    { hasPassword: true, tokens: 2, errors: [{ field: 'password', detail: payload }, { detail: payload }] },
    { hasPassword: true, tokens: 1, errors: [{ detail: payload, isWarning: true }] },
  ],
}
