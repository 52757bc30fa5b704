import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { generateAuthenticationOptions } from '@simplewebauthn/server'
import { newIdentifier } from '../../database/identifier.ts'
import { failWrites, sql } from '../../testing/database.ts'
import { siteWithPasskeys } from '../../testing/passkeys.ts'
import { signUp } from '../../testing/people.ts'
import { flags, type Overrides } from '../../testing/software-authenticator.ts'
import { challengeLifetime, newChallenge } from './challenges.ts'
import { listPasskeys } from './passkey.ts'
import { requestOptions, verifyUse } from './use-passkey.ts'

const { present, verified, eligible, backedUp } = flags

const rejected = {}

const wrong: Record<string, Overrides> = {
  'another origin': { origin: 'https://localhost:3000' },
  'another RP ID': { rpId: 'evil.example' },
  'another type': { type: 'webauthn.create' },
  'a page that another origin embeds': { crossOrigin: true },
  'another site as the top-level origin': { topOrigin: 'https://evil.example' },
  'no user presence': { flags: verified | eligible },
  'no user verification': { flags: present | eligible },
  'a backup without backup eligibility': { flags: present | verified | backedUp },
  'backup eligibility that was turned off': { flags: present | verified },
  'another user handle': { userHandle: randomBytes(32).toString('base64url') },
  'a wrong signature': { signature: randomBytes(70) },
  'an unknown credential': { id: randomBytes(32).toString('base64url') },
  'a credential id of three bytes': { id: 'AAAA' },
  'invalid authenticator data': { response: { authenticatorData: 'AAAA' } },
  'no authenticator data': { response: { authenticatorData: undefined } },
  'extensions that are nested 3,000 times': {
    response: {
      authenticatorData: Buffer.concat([
        Buffer.alloc(32),
        Buffer.from([0x85]),
        Buffer.alloc(3_000, 0x81),
      ]).toString('base64url'),
    },
  },
  'a signature that is not a string': { response: { signature: [1] } },
  'no signature': { response: { signature: '' } },
}

describe('requestOptions', () => {
  test('U7 match the options of the library, and list no passkey at sign-in', async (t) => {
    const { party, em, ada, session, signInOptions, withPasskey } = await siteWithPasskeys(t)
    const { id } = await withPasskey()
    const common = { rpID: party.id, timeout: challengeLifetime, userVerification: 'required' } as const
    const challengeOf = ({ challenge }: { challenge: string }) =>
      new Uint8Array(Buffer.from(challenge, 'base64url'))
    const options = signInOptions()
    const { extensions, ...expected } = await generateAuthenticationOptions({
      ...common,
      challenge: challengeOf(options),
      allowCredentials: [],
    })
    assert.deepEqual([options, extensions], [expected, undefined])
    const ceremony = { purpose: 'confirm', binding: session } as const
    const confirmation = requestOptions(party, ceremony, await listPasskeys(em(), ada.id))
    assert.deepEqual(confirmation.allowCredentials, [
      { id, type: 'public-key', transports: ['hybrid', 'internal'] },
    ])
  })
})

describe('verifyUse of a sign-in', () => {
  test('returns the user of a passkey, and records its use', async (t) => {
    const { site, ada, withPasskey, signIn } = await siteWithPasskeys(t)
    const from = await withPasskey()
    const before = Date.now()
    const result = await signIn(from)
    assert.deepEqual([result.accepted?.user.id, result.accepted?.name], [ada.id, 'Laptop'])
    const [row] = await sql(site, 'select last_used_at from passkeys')
    assert.ok(Number(row?.last_used_at) >= before)
    assert.ok((await signIn(from)).accepted)
  })

  test('U1 U2 U7 rejects every forged answer in the same way, uses up the challenge, and changes no passkey', async (t) => {
    const { site, withPasskey, signInOptions, answer } = await siteWithPasskeys(t)
    const from = await withPasskey()
    const before = await sql(site, 'select * from passkeys')
    let challenges = 1
    for (const [name, overrides] of Object.entries(wrong)) {
      const options = signInOptions()
      for (const credential of [from.get(options, overrides), from.get(options)])
        assert.deepEqual(await answer(credential), rejected, name)
      const rows = await sql(site, 'select digest from used_challenges')
      challenges += 1
      assert.equal(rows.length, challenges, name)
    }
    assert.deepEqual(await sql(site, 'select * from passkeys'), before)
  })

  test('U3 rejects a missing user handle, and the handle of another account', async (t) => {
    const { site, withPasskey, signIn } = await siteWithPasskeys(t)
    const [adas, bobs] = [await withPasskey(), await withPasskey(await signUp(site, 'Bob'))]
    for (const userHandle of [undefined, null, ''])
      assert.deepEqual(await signIn(adas, { userHandle }), rejected)
    assert.deepEqual(await signIn(adas, { userHandle: bobs.userHandle }), rejected)
    assert.deepEqual(await signIn(adas, { id: bobs.id, userHandle: bobs.userHandle }), rejected)
    assert.ok((await signIn(adas)).accepted)
  })

  test('U1 rejects a challenge of another purpose, browser or key, and an expired one', async (t) => {
    const { site, party, session, browser, withPasskey, signInOptions, answer } = await siteWithPasskeys(t)
    const from = await withPasskey()
    const old = Date.now() - challengeLifetime
    const [before, ...challenges] = [
      await sql(site, 'select * from used_challenges'),
      newChallenge(party.key, { purpose: 'confirm', binding: browser }),
      newChallenge(party.key, { purpose: 'add', binding: browser }),
      newChallenge(party.key, { purpose: 'sign-in', binding: session }),
      newChallenge(party.key, { purpose: 'sign-in', binding: browser }, old),
      newChallenge(randomBytes(32), { purpose: 'sign-in', binding: browser }),
      randomBytes(32).toString('base64url'),
    ]
    for (const challenge of challenges)
      assert.deepEqual(await answer(from.get({ ...signInOptions(), challenge })), rejected)
    assert.deepEqual(await sql(site, 'select * from used_challenges'), before)
  })

  test('U6 rejects a passkey that became eligible for backups, and records the backup state of an accepted one', async (t) => {
    const { site, ada, withPasskey, signIn } = await siteWithPasskeys(t)
    const single = await withPasskey(ada, { flags: present | verified })
    assert.deepEqual(await signIn(single, { flags: present | verified | eligible }), rejected)
    assert.ok((await signIn(single, { flags: present | verified })).accepted)
    await sql(site, 'delete from passkeys')

    const synced = await withPasskey()
    for (const [state, expected] of [
      [0, 0],
      [backedUp, 1],
    ] as const) {
      assert.ok((await signIn(synced, { flags: present | verified | eligible | state })).accepted)
      assert.deepEqual(await sql(site, 'select is_backed_up from passkeys'), [{ is_backed_up: expected }])
    }
  })

  test('U5 rejects a counter that does not increase, and reports it only if the signature is valid', async (t) => {
    const { site, ada, withPasskey, signIn } = await siteWithPasskeys(t)
    const from = await withPasskey(ada, { counter: 7 })
    const counter = async () => (await sql(site, 'select counter from passkeys'))[0]?.counter
    assert.ok((await signIn(from, { counter: 9 })).accepted)
    for (const lower of [9, 8, 0]) {
      assert.deepEqual(await signIn(from, { counter: lower, signature: randomBytes(70) }), rejected)
      const result = await signIn(from, { counter: lower })
      assert.deepEqual([result.copy?.user.id, result.copy?.credentialId], [ada.id, from.id])
      assert.equal(await counter(), 9)
    }
    assert.ok((await signIn(from, { counter: 2 ** 32 - 1 })).accepted)
    assert.equal(await counter(), 2 ** 32 - 1)
  })

  test('U5 accepts only one of ten concurrent answers with the same counter', async (t) => {
    const { withPasskey, signIn } = await siteWithPasskeys(t)
    const from = await withPasskey()
    const all = await Promise.all(Array.from({ length: 10 }, () => signIn(from, { counter: 1 })))
    assert.equal(all.filter(({ accepted }) => accepted).length, 1)
  })

  test('accepts ten concurrent answers of a passkey without a counter', async (t) => {
    const { withPasskey, signIn } = await siteWithPasskeys(t)
    const from = await withPasskey()
    const all = await Promise.all(Array.from({ length: 10 }, () => signIn(from)))
    assert.equal(all.filter(({ accepted }) => accepted).length, 10)
  })

  test('throws the error of the database, and the challenge stays used', async (t) => {
    const { site, withPasskey, signInOptions, answer } = await siteWithPasskeys(t)
    const from = await withPasskey()
    const credential = from.get(signInOptions())
    const repair = await failWrites(site, 'update', 'passkeys')
    await assert.rejects(answer(credential), /a rule of the database/)
    await repair()
    assert.deepEqual(await answer(credential), rejected)
  })
})

describe('verifyUse of a confirmation', () => {
  test('accepts a passkey of the user, with or without the user handle', async (t) => {
    const { ada, withPasskey, confirm } = await siteWithPasskeys(t)
    const from = await withPasskey()
    const result = await confirm(from)
    assert.equal(result.accepted?.user.id, ada.id)
    for (const userHandle of [undefined, null, ''])
      assert.ok((await confirm(from, { userHandle })).accepted, `${userHandle}`)
  })

  test('U2 U3 rejects a passkey of another user, another user handle, a wrong signature, and an answer without user verification', async (t) => {
    const { site, withPasskey, confirm } = await siteWithPasskeys(t)
    const bob = await signUp(site, 'Bob')
    const [adas, bobs] = [await withPasskey(), await withPasskey(bob)]
    assert.deepEqual(await confirm(bobs), rejected)
    for (const overrides of [
      { userHandle: bobs.userHandle },
      { signature: randomBytes(70) },
      { flags: present | eligible | backedUp },
      { id: 'AAAA' },
    ])
      assert.deepEqual(await confirm(adas, overrides), rejected)
    assert.ok((await confirm(bobs, {}, bob)).accepted)
  })

  test('rejects a passkey if the caller passes no user', async (t) => {
    const { em, party, session, withPasskey } = await siteWithPasskeys(t)
    const ceremony = { purpose: 'confirm', binding: session } as const
    const credential = (await withPasskey()).get(requestOptions(party, ceremony))
    assert.deepEqual(await verifyUse(em(), party, { ceremony, credential }), rejected)
  })

  test('U1 rejects the challenge of a sign-in or of another session', async (t) => {
    const { party, session, withPasskey, confirm } = await siteWithPasskeys(t)
    const from = await withPasskey()
    for (const ceremony of [
      { purpose: 'sign-in', binding: session },
      { purpose: 'confirm', binding: newIdentifier() },
    ] as const)
      assert.deepEqual(await confirm(from, { challenge: newChallenge(party.key, ceremony) }), rejected)
  })
})
