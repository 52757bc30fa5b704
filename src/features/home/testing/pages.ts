import { type PageExamples, payload } from '../../../testing/page-examples.ts'

const trace = { session: payload, header: [[payload, payload]] satisfies [string, string][], ms: '1.0' }

/** States of the pages. */
export const examples: PageExamples = {
  home: [{}],
  demo: [{ trace }],
}
