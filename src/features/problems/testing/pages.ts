import { type PageExamples, payload } from '../../../testing/page-examples.ts'

/** States of the page. */
export const examples: PageExamples = {
  problem: [{ code: payload, title: payload, status: 400, explanation: payload, advice: payload }],
}
