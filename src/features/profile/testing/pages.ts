import { type PageExamples, payload } from '../../../testing/page-examples.ts'

const profile = {
  user: { name: payload, email: payload },
  isVerified: false,
  createdAt: new Date(0),
  passwordChangedAt: new Date(0),
  pendingEmail: undefined,
  steps: undefined,
  offersPasskey: false,
}

/** States of the page. */
export const examples: PageExamples = {
  profile: [
    { ...profile, notice: payload, offersPasskey: true },
    {
      ...profile,
      steps: [
        { kind: 'address', isDone: false },
        { kind: 'passkey', isDone: true },
        { kind: 'app', isDone: false },
      ],
    },
    { ...profile, pendingEmail: payload },
    {
      ...profile,
      typedName: payload,
      errors: [{ field: 'name', detail: payload }],
    },
  ],
}
