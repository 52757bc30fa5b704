import { type PageExamples, payload } from '../../../testing/page-examples.ts'

/** States of the page. */
export const examples: PageExamples = {
  verify: [
    { token: payload, next: payload, email: payload, isOtherAccount: false, isRefused: false },
    ...[true, false].map((isOtherAccount) => ({
      token: payload,
      next: payload,
      isOtherAccount,
      isRefused: isOtherAccount,
    })),
  ],
}
