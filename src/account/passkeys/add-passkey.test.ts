import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { generateRegistrationOptions } from '@simplewebauthn/server'
import { newIdentifier } from '../../database/identifier.ts'
import { failWrites, sql } from '../../testing/database.ts'
import { dumpAll } from '../../testing/dump.ts'
import { siteWithPasskeys } from '../../testing/passkeys.ts'
import { signUp } from '../../testing/people.ts'
import { flags, type Overrides } from '../../testing/software-authenticator.ts'
import { creationOptions, verifyRegistration } from './add-passkey.ts'
import { challengeLifetime, newChallenge } from './challenges.ts'
import { algorithms } from './relying-party.ts'

const { present, verified, backedUp } = flags

const wrong: Record<string, Overrides> = {
  'another origin': { origin: 'http://localhost:3001' },
  'an origin with the right beginning': { origin: 'http://localhost:3000.evil.example' },
  'another RP ID': { rpId: 'evil.example' },
  'another type': { type: 'webauthn.get' },
  'a page that another origin embeds': { crossOrigin: true },
  'a top origin of another site': { topOrigin: 'https://evil.example' },
  'a `crossOrigin` that is not a boolean': { crossOrigin: 'false' },
  'no user presence': { flags: verified },
  'no user verification': { flags: present },
  'a backup without backup eligibility': { flags: present | verified | backedUp },
  'an algorithm that was not offered': { algorithm: -48 },
  'an unknown format': { format: 'canary' },
  'a wrong attestation by the passkey itself': {
    format: 'packed',
    statement: new Map<string, number | Buffer>([['alg', -7]]).set('sig', randomBytes(70)),
  },
  'a certificate': {
    format: 'packed',
    statement: new Map<string, number | Buffer | Buffer[]>([['alg', -7]]).set('x5c', [randomBytes(300)]),
  },
  'a right signature by a certificate': { format: 'fido-u2f' },
  'an attestation of Apple': { format: 'apple', statement: new Map([['x5c', [randomBytes(300)]]]) },
  'a statement with the format `none`': { statement: new Map([['sig', 'canary']]) },
  'CBOR that is cut off': { response: { attestationObject: 'o2NmbXRkbm9uZQ' } },
  'CBOR that is nested 11,000 times': {
    response: { attestationObject: Buffer.alloc(11_000, 0x81).toString('base64url') },
  },
  'no attestation': { response: { attestationObject: undefined } },
  'an attestation that is no text': { response: { attestationObject: { toString: 1 } } },
  'an attestation that is an object with a length': { response: { attestationObject: { length: 2 ** 26 } } },
  'an attestation of 1 MB': { response: { attestationObject: 'A'.repeat(1_000_000) } },
}

const invalid = { status: 400, message: /^The passkey was not accepted, or/ }
const taken = { status: 409, message: 'This passkey belongs to an account already.' }

describe('creationOptions', () => {
  test('match the options of the library, and write nothing', async (t) => {
    const { site, em, party, ada, session, userOf, add } = await siteWithPasskeys(t)
    const passkey = await add()
    const before = await dumpAll(site)
    const options = await creationOptions(em(), party, { user: await userOf(ada), session })
    assert.deepEqual(await dumpAll(site), before)

    const expected = await generateRegistrationOptions({
      rpName: party.name,
      rpID: party.id,
      userID: new Uint8Array(Buffer.from(options.user.id, 'base64url')),
      userName: ada.email,
      userDisplayName: ada.name,
      challenge: new Uint8Array(Buffer.from(options.challenge, 'base64url')),
      timeout: challengeLifetime,
      attestationType: 'none',
      excludeCredentials: [{ id: passkey.credentialId, transports: ['hybrid', 'internal'] }],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      supportedAlgorithmIDs: algorithms,
    })
    assert.deepEqual(options, expected)
  })

  test('U3 contain the same user handle of 32 bytes for all passkeys of an account', async (t) => {
    const { site, em, party, ada, session, userOf, withPasskey } = await siteWithPasskeys(t)
    const handle = async (user = ada, key = party.key) =>
      (await creationOptions(em(), { ...party, key }, { user: await userOf(user), session })).user.id
    const first = await handle()
    assert.equal(Buffer.from(first, 'base64url').length, 32)
    assert.notEqual(first, await handle(await signUp(site, 'Bob')))
    await withPasskey()
    await withPasskey()
    assert.equal(await handle(), first)
    assert.equal(await handle(ada, randomBytes(32)), first, 'after a change of the key')
    const rows = await sql(site, 'select distinct user_handle from passkeys')
    assert.deepEqual(rows, [{ user_handle: first }])
  })
})

describe('verifyRegistration', () => {
  test('adds a passkey', async (t) => {
    const { site, ada, add } = await siteWithPasskeys(t)
    const before = Date.now()
    const passkey = await add()
    assert.deepEqual([passkey.name, passkey.lastUsedAt ?? null], ['Laptop', null])
    const [row, ...others] = await sql(site, 'select * from passkeys')
    const { credential_id, user_handle, public_key, created_at, ...rest } = row ?? {}
    assert.deepEqual(others, [])
    assert.deepEqual(rest, {
      id: passkey.id,
      user_id: ada.id,
      counter: 0,
      transports: 'hybrid internal',
      name: 'Laptop',
      is_backup_eligible: 1,
      is_backed_up: 1,
      last_used_at: null,
    })
    assert.ok(Number(created_at) >= before)
    assert.equal(passkey.credentialId, credential_id)
    assert.deepEqual(Object.keys(JSON.parse(JSON.stringify(passkey))).sort(), [
      'createdAt',
      'id',
      'lastUsedAt',
      'name',
    ])
  })

  test('adds a passkey with a self attestation', async (t) => {
    const { add, authenticator } = await siteWithPasskeys(t)
    assert.ok(await add(authenticator(), { format: 'packed' }))
  })

  test('stores a passkey without backups', async (t) => {
    const { site, add, authenticator } = await siteWithPasskeys(t)
    await add(authenticator(), { flags: present | verified, counter: 2 ** 32 - 1 })
    const rows = await sql(site, 'select is_backup_eligible, is_backed_up, counter from passkeys')
    assert.deepEqual(rows, [{ is_backup_eligible: 0, is_backed_up: 0, counter: 2 ** 32 - 1 }])
  })

  test('U1 U2 rejects every forged answer, and uses up the challenge', async (t) => {
    const { site, em, party, ada, session, userOf, authenticator } = await siteWithPasskeys(t)
    const owner = { user: await userOf(ada), session }
    let challenges = 0
    for (const [lie, overrides] of Object.entries(wrong)) {
      const from = authenticator()
      const options = await creationOptions(em(), party, owner)
      for (const credential of [from.create(options, overrides), from.create(options)])
        await assert.rejects(verifyRegistration(em(), party, owner, credential), invalid, lie)
      const rows = await sql(site, 'select digest from used_challenges')
      challenges += 1
      assert.equal(rows.length, challenges, lie)
    }
    assert.deepEqual(await sql(site, 'select * from passkeys'), [])
  })

  test('U2 rejects an attestation with padding, because two decoders could read it differently', async (t) => {
    const { add, authenticator } = await siteWithPasskeys(t)
    const from = authenticator()
    const create = from.create.bind(from)
    from.create = (...given) => {
      const credential = JSON.parse(create(...given))
      credential.response.attestationObject += '='
      return JSON.stringify(credential)
    }
    await assert.rejects(add(from), invalid)
  })

  test('U2 rejects an id that is not the id of the attested credential', async (t) => {
    const { add, authenticator } = await siteWithPasskeys(t)
    const [one, other] = [authenticator(), authenticator()]
    const credential = (text: string) =>
      JSON.stringify({ ...JSON.parse(text), id: other.id, rawId: other.id })
    const create = one.create.bind(one)
    one.create = (...given) => credential(create(...given))
    await assert.rejects(add(one), invalid)
  })

  test('U1 rejects a challenge of another purpose, session or account', async (t) => {
    const { site, em, party, ada, session, userOf, authenticator, signInOptions } = await siteWithPasskeys(t)
    const owner = { user: await userOf(ada), session }
    const options = await creationOptions(em(), party, owner)
    const bob = await userOf(await signUp(site, 'Bob'))
    const [elsewhere, ofBob] = [
      { ...owner, session: newIdentifier() },
      { user: bob, session },
    ]
    for (const challenge of [
      signInOptions().challenge,
      newChallenge(party.key, { purpose: 'confirm', binding: session }),
      newChallenge(party.key, { purpose: 'add', binding: session }),
      (await creationOptions(em(), party, elsewhere)).challenge,
      (await creationOptions(em(), party, ofBob)).challenge,
      randomBytes(54).toString('base64url'),
      'canary',
    ]) {
      const credential = authenticator().create(options, { challenge })
      await assert.rejects(verifyRegistration(em(), party, owner, credential), invalid)
    }
    assert.deepEqual(await sql(site, 'select * from passkeys'), [])
    assert.deepEqual(await sql(site, 'select * from used_challenges'), [])
  })

  test('U4 rejects a credential id that another or the same account has registered', async (t) => {
    const { site, ada, add, withPasskey, authenticator } = await siteWithPasskeys(t)
    const { id } = await withPasskey(await signUp(site, 'Bob'))
    await assert.rejects(add(authenticator(), { id }), taken)
    const own = await withPasskey(ada)
    await assert.rejects(add(own), taken)
    assert.equal((await sql(site, 'select * from passkeys')).length, 2)
  })

  test('U4 adds a credential id only once in ten concurrent answers', async (t) => {
    const { add, authenticator } = await siteWithPasskeys(t)
    const { id } = authenticator()
    const all = await Promise.allSettled(Array.from({ length: 10 }, () => add(authenticator(), { id })))
    const failures = all.flatMap((each) => (each.status === 'rejected' ? [each.reason.message] : []))
    assert.deepEqual(failures, Array(9).fill(taken.message))
  })

  test('U8 adds at most 20 passkeys to an account, also concurrently', async (t) => {
    const { site, add, withPasskey } = await siteWithPasskeys(t)
    const all = await Promise.allSettled(Array.from({ length: 25 }, () => add()))
    const failures = all.flatMap((each) => (each.status === 'rejected' ? [each.reason.message] : []))
    assert.deepEqual(failures, Array(5).fill('An account can have 20 passkeys. Remove one first.'))
    await withPasskey(await signUp(site, 'Bob'))
  })

  test('throws the error of the database if it cannot store the passkey', async (t) => {
    const { site, add } = await siteWithPasskeys(t)
    await failWrites(site, 'insert', 'passkeys')
    await assert.rejects(add(), /a rule of the database/)
  })

  test('U9 rejects anything but the JSON of a credential, and uses up no challenge', async (t) => {
    const { site, em, party, ada, session, userOf, authenticator } = await siteWithPasskeys(t)
    const owner = { user: await userOf(ada), session }
    const right = JSON.parse(authenticator().create(await creationOptions(em(), party, owner)))
    const clientData = (text: string) => ({ clientDataJSON: Buffer.from(text).toString('base64url') })
    const changed = (more: object) => JSON.stringify({ ...right, ...more })
    const responses = [
      ...[null, [], 'x', 1, {}, { clientDataJSON: null }, { clientDataJSON: 1 }, { clientDataJSON: '' }],
      ...[{ clientDataJSON: '!' }, { clientDataJSON: `${right.response.clientDataJSON}=` }],
      ...['', 'null', '[]', '{}', '{"challenge":1}', '{"challenge":', '\uFEFF{}'].map(clientData),
      { clientDataJSON: Buffer.from([0x22, 0xff, 0x22]).toString('base64url') },
    ]
    const ids = [undefined, null, 1, '', '!', 'A', [right.id], 'A'.repeat(1368)]
    for (const credential of [
      ...['', 'null', '[]', '"x"', '{', '['.repeat(16_000)],
      ...responses.map((response) => changed({ response })),
      ...ids.map((id) => changed({ id })),
      ...[undefined, null, 'password', ['public-key']].map((type) => changed({ type })),
    ])
      await assert.rejects(
        verifyRegistration(em(), party, owner, credential),
        invalid,
        credential.slice(0, 200),
      )
    assert.deepEqual(await sql(site, 'select * from used_challenges'), [])
  })
})
