import { type PageExamples, payload } from '../../../testing/page-examples.ts'

const identity = { id: '1', provider: 'company', label: payload, createdAt: new Date(0), lastUsedAt: null }
const plain = { opened: undefined, passkeyOptions: undefined }

/** States of the page. */
export const examples: PageExamples = {
  security: [
    {
      ...plain,
      passwordChangedAt: new Date(0),
      secondFactorAt: undefined,
      isAvailable: false,
      recoveryCodesLeft: 0,
      passkeys: [],
      identities: [identity],
      hasPassword: false,
      hasPasskeys: false,
      isVerified: true,
      isFresh: true,
      notice: payload,
    },
    {
      passwordChangedAt: new Date(0),
      secondFactorAt: new Date(0),
      isAvailable: true,
      recoveryCodesLeft: 3,
      isFresh: true,
      passkeys: [null, new Date(0)].map((lastUsedAt, i) => ({
        id: `${i}`,
        name: payload,
        createdAt: new Date(0),
        lastUsedAt,
        isSynced: i === 0,
      })),
      identities: [],
      hasPassword: true,
      hasPasskeys: true,
      passkeyOptions: payload,
      opened: 'remove-app',
      isVerified: true,
      errors: [{ detail: payload }],
    },
    {
      ...plain,
      passwordChangedAt: new Date(0),
      secondFactorAt: new Date(0),
      isAvailable: true,
      recoveryCodesLeft: 0,
      isFresh: false,
      passkeys: [],
      identities: [],
      hasPassword: true,
      hasPasskeys: true,
      isVerified: true,
    },
  ],
}
