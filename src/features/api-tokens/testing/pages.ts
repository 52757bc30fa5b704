import { type PageExamples, payload } from '../../../testing/page-examples.ts'

const token = {
  id: '01932c07-209f-7000-8000-000000000000',
  name: payload,
  tail: payload,
  createdAt: new Date(0),
  expiresAt: new Date(0),
}

/** States of the page. */
export const examples: PageExamples = {
  'api-tokens': [
    { tokens: [], isFresh: false, notice: payload },
    {
      tokens: [null, new Date(0)].map((lastUsedAt, i) => ({ ...token, id: `${i}`, lastUsedAt })),
      isFresh: true,
      older: '/account/tokens',
      created: { ...token, value: payload },
    },
    {
      tokens: [],
      isFresh: true,
      values: { name: payload, days: payload },
      errors: [{ field: 'name', detail: payload }, { field: 'days', detail: payload }, { detail: payload }],
    },
  ],
}
