import type { PageExamples } from '../../../testing/page-examples.ts'

/** States of the page. */
export const examples: PageExamples = {
  'style-guide': [{}],
}
