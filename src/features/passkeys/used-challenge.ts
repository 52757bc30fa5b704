import { defineEntity, p } from '@mikro-orm/core'

const UsedChallengeSchema = defineEntity({
  name: 'UsedChallenge',
  tableName: 'used_challenges',
  indexes: [
    { name: 'used_challenges_expires_at_index', properties: ['expiresAt'] },
    { name: 'used_challenges_created_at_index', properties: ['createdAt'] },
  ],
  properties: {
    // SHA-256 of the challenge.
    digest: p.string().length(43).primary(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
})

/** A used challenge, so that a second answer is rejected. Only `challenges.ts` inserts rows. */
export class UsedChallenge extends UsedChallengeSchema.class {}

UsedChallengeSchema.setClass(UsedChallenge)
