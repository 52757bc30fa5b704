import { type EntityManager, raw } from '@mikro-orm/core'
import { ConfigError } from '../../config/environment.ts'
import { type SecretBox, UnreadableSecret } from './secret-box.ts'
import { TotpFactor } from './totp-factors.ts'

const batchSize = 500
const remedy =
  'Add the keys that earlier starts used, or remove the apps with "npm run user -- remove-factors EMAIL".'
const isConfirmed = { confirmedAt: { $ne: null } }

/**
 * Encrypts the keys of all authenticator apps with the newest key, so that the operator can remove older keys from `SECRETS_KEY`. Call
 * it at the start. Several processes may run it at the same time.
 *
 * @throws {ConfigError} if a key of `SECRETS_KEY` is missing or wrong
 */
export async function encryptWithNewestKey(em: EntityManager, box: SecretBox | undefined): Promise<void> {
  if (!box) return refuseApps(em)
  const isOlder = { [raw('substr(secret, 1, ?)', [box.prefix.length])]: { $ne: box.prefix } }
  // Deletes unfinished set-ups with an older key, because their users can start again.
  await em.nativeDelete(TotpFactor, { ...isOlder, confirmedAt: null }, { filters: false })
  const options = { filters: false, disableIdentityMap: true } as const
  const nextBatch = () => em.find(TotpFactor, isOlder, { ...options, limit: batchSize })
  for (let batch = await nextBatch(); batch.length > 0; batch = await nextBatch()) {
    for (const factor of batch) {
      const user = factor.user.id
      const secret = box.encrypt(decrypt(box, factor), user)
      // The condition on `secret` prevents a race with a user who replaces the app.
      await em.nativeUpdate(TotpFactor, { user, secret: factor.secret }, { secret }, { filters: false })
    }
  }
  // Fails if the newest key has changed but kept its name.
  const newest = await em.findOne(TotpFactor, isConfirmed, options)
  if (newest) decrypt(box, newest)
}

async function refuseApps(em: EntityManager): Promise<void> {
  if ((await em.count(TotpFactor, isConfirmed, { filters: false })) === 0) return
  throw new ConfigError(`SECRETS_KEY must be set, because accounts have authenticator apps. ${remedy}`)
}

function decrypt(box: SecretBox, { secret, user }: TotpFactor): Buffer {
  try {
    return box.decrypt(secret, user.id)
  } catch (cause) {
    if (!(cause instanceof UnreadableSecret)) throw cause
    throw new ConfigError(`${cause.message} ${remedy}`, { cause })
  }
}
