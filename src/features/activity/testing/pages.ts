import { type PageExamples, payload } from '../../../testing/page-examples.ts'

const event = {
  event: payload,
  isRefusal: true,
  isSuspicious: true,
  at: new Date(0),
  device: payload,
  address: payload,
}

/** States of the page. */
export const examples: PageExamples = {
  activity: [
    { events: [] },
    {
      events: [null, payload].map((detail) => ({ ...event, detail })),
      older: '/account/activity',
      kind: 'failed',
    },
  ],
}
