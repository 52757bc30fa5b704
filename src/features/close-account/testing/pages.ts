import { type PageExamples, payload } from '../../../testing/page-examples.ts'

/** States of the pages. */
export const examples: PageExamples = {
  'close-account': [
    { needsPassword: false, isConfirmed: false },
    {
      needsPassword: true,
      errors: [{ field: 'confirm', detail: payload }, { detail: payload }],
      isConfirmed: true,
    },
  ],
  'account-closed': [{}],
}
