import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { ConfigError } from '../../config/environment.ts'
import { sql } from '../../testing/database.ts'
import { signIn, signUp } from '../../testing/people.ts'
import { turnOnApp } from '../../testing/second-factor.ts'
import { startSite } from '../../testing/site.ts'
import { encryptWithNewestKey } from './encrypted-keys.ts'
import { SecretBox } from './secret-box.ts'

const newKey = (id: string) => ({ id, bytes: randomBytes(32) })

/** A site with apps of two users and an unfinished set-up of a third. The key `keyX1` encrypted all three. */
async function siteWithApps(t: TestContext) {
  const old = newKey('keyX1')
  const SECRETS_KEY = `keyX1:${Buffer.from(old.bytes).toString('base64')}`
  const site = await startSite(t, { SECRETS_KEY })
  const apps = new Map<string, Buffer>()
  for (const name of ['Ada', 'Bob']) {
    const person = await signUp(site, name)
    apps.set(person.id, (await turnOnApp(site, person)).key)
  }
  const eve = await signIn(site, await signUp(site, 'Eve'))
  await eve.json('/account/security/totp', {})
  const start = (...keys: { id: string; bytes: Uint8Array }[]) =>
    encryptWithNewestKey(site.orm.em.fork(), keys.length > 0 ? new SecretBox(keys) : undefined)
  const rows = () => sql(site, 'select user_id, secret from totp_factors order by user_id')
  const assertReadable = async (box: SecretBox) => {
    for (const { user_id: user, secret } of await rows())
      assert.deepEqual(box.decrypt(String(secret), String(user)), apps.get(String(user)))
  }
  return { site, old, start, rows, assertReadable }
}

describe('encryptWithNewestKey', () => {
  test('T12 changes nothing if the newest key encrypted all secrets', async (t) => {
    const { old, start, rows } = await siteWithApps(t)
    const before = await rows()
    assert.equal(before.length, 3)
    await start(old)
    await start(old, newKey('older'))
    assert.deepEqual(await rows(), before)
  })

  test('T12 encrypts the key of every app with the newest key, so that the older key can be removed', async (t) => {
    const { old, start, rows, assertReadable } = await siteWithApps(t)
    // A query with `like` would confuse this name with `keyX1`, because `_` matches any character.
    const newest = newKey('key_1')
    await start(newest, old)
    assert.equal((await rows()).length, 2, 'the unfinished set-up is deleted')
    await assertReadable(new SecretBox([newest]))
    await start(newest)
  })

  test('T12 M6 can run several times concurrently', async (t) => {
    const { old, start, assertReadable } = await siteWithApps(t)
    const newest = newKey('new')
    await Promise.all(Array.from({ length: 8 }, () => start(newest, old)))
    await assertReadable(new SecretBox([newest]))
  })

  test('T12 rejects a missing key, and a different key under the same name', async (t) => {
    const { start } = await siteWithApps(t)
    const lines = [
      [
        [],
        /^SECRETS_KEY must be set, because accounts have authenticator apps\. Add .+remove-factors EMAIL"\.$/,
      ],
      [[newKey('new')], /^SECRETS_KEY has no key "keyX1", which encrypted a secret\. Add .+\.$/],
      [[newKey('keyX1')], /^The key "keyX1" of SECRETS_KEY cannot decrypt a secret\. Add .+\.$/],
    ] as const
    for (const [keys, message] of lines)
      await assert.rejects(
        start(...keys),
        (error) => error instanceof ConfigError && message.test(error.message),
      )
  })

  test('T12 accepts a missing key if no account has an app', async (t) => {
    const site = await startSite(t)
    await encryptWithNewestKey(site.orm.em.fork(), undefined)
  })
})
