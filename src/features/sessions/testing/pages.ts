import { type PageExamples, payload } from '../../../testing/page-examples.ts'

/** States of the page. */
export const examples: PageExamples = {
  sessions: [
    { sessions: [], others: 0, notice: payload },
    {
      sessions: [true, false].map((current) => ({
        id: `01932c07-209f-7000-8000-00000000000${Number(current)}`,
        device: payload,
        address: current ? payload : null,
        startedAt: new Date(0),
        seenAt: new Date(0),
        methods: current ? ['pop', 'mfa'] : ['pwd', 'otp'],
        kept: !current,
        current,
      })),
      others: 1,
      older: '/account/sessions',
    },
  ],
}
