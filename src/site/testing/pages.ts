import { type PageExamples, payload } from '../../testing/page-examples.ts'

/** States of the pages. */
export const examples: PageExamples = {
  'link-gone': [{ isReset: true }, { isReset: false }, { isReset: false, verified: payload }],
  error: [401, 404, 405, 503].map((status) => ({
    type: '/problems/x',
    status,
    title: payload,
    detail: payload,
    canRetry: status === 503,
  })),
}
