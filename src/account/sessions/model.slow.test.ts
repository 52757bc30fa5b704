import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { sql } from '../../testing/database.ts'
import { basic, bearer, type Person, password, registration } from '../../testing/people.ts'
import { type Site, startSite } from '../../testing/site.ts'
import type { Visitor } from '../../testing/visitor.ts'

/** The expected state of an account. */
class Model {
  password = password
  isDisabled = false
  isDeleted = false
  readonly sessions: { readonly visitor: Visitor; isLive: boolean }[] = []
  readonly tokens: { readonly value: string; readonly id: string; isLive: boolean }[] = []

  get isOpen(): boolean {
    return !this.isDisabled && !this.isDeleted
  }

  endAll(): void {
    for (const each of [...this.sessions, ...this.tokens]) each.isLive = false
  }
}

interface World {
  readonly site: Site
  readonly person: Person
  readonly model: Model
}

type Step = (world: World, pick: number) => Promise<void>

const steps: Record<string, Step> = {
  async 'sign in'({ site, person, model }) {
    const visitor = site.visitor()
    const { status } = await visitor.form('/login', { username: person.email, password: model.password })
    assert.equal(status, model.isOpen ? 303 : 401)
    if (model.isOpen) model.sessions.push({ visitor, isLive: true })
  },
  async 'sign in with a password that is old or wrong'({ site, person, model }) {
    const wrong = model.password === password ? 'never the password' : password
    assert.equal(
      (await site.visitor().json('/login', { username: person.email, password: wrong })).status,
      401,
    )
  },
  async 'sign in again over a session'({ person, model }, pick) {
    const found = pickOne(model.sessions, pick)
    if (!found) return
    const old = found.visitor.session
    const { status } = await found.visitor.form('/login', {
      username: person.email,
      password: model.password,
    })
    assert.equal(status, model.isOpen ? 303 : 401)
    if (!model.isOpen) return
    assert.notEqual(found.visitor.session, old)
    found.isLive = true
  },
  async 'sign out'({ model }, pick) {
    const found = pickOne(model.sessions, pick)
    if (!found) return
    assert.equal((await found.visitor.post('/logout')).status, 204)
    found.isLive = false
  },
  async 'take a token'({ site, person, model }) {
    const { status, record } = await site.visitor().post('/login', basic(person, model.password))
    assert.equal(status, model.isOpen ? 200 : 401)
    if (model.isOpen) model.tokens.push({ value: String(record.value), id: String(record.id), isLive: true })
  },
  async 'revoke a token from a session'({ model }, pick) {
    const [session, token] = [pickOne(model.sessions, pick), pickOne(model.tokens, pick)]
    if (!session || !token) return
    const { status } = await session.visitor.post(`/account/tokens/${token.id}/revoke`)
    const may = model.isOpen && session.isLive
    assert.equal(status, may ? (token.isLive ? 204 : 404) : 401)
    if (may) token.isLive = false
  },
  async 'end all other sessions'({ model }, pick) {
    const found = pickOne(model.sessions, pick)
    if (!found) return
    const may = model.isOpen && found.isLive
    assert.equal((await found.visitor.post('/account/sessions/end-others')).status, may ? 204 : 401)
    if (may) for (const each of model.sessions) each.isLive = each === found
  },
  async 'change the password'({ site, model }, pick) {
    const found = pickOne(model.sessions, pick)
    if (!found) return
    const changed = `${password} ${pick}`
    const fields = { currentPassword: model.password, password: changed, confirmPassword: changed }
    site.secrets.add(changed)
    const { status, headers } = await found.visitor.form('/account/password', fields)
    assert.equal(status, 303)
    const may = model.isOpen && found.isLive
    assert.equal(headers.location, may ? '/account' : '/login')
    if (!may) return
    model.endAll()
    model.password = changed
    found.isLive = true
  },
  async 'be disabled'({ site, person, model }) {
    await sql(site, 'update users set disabled_at = 1 where id = ?', [person.id])
    model.isDisabled = true
  },
  async 'be enabled'({ site, person, model }) {
    await sql(site, 'update users set disabled_at = null where id = ?', [person.id])
    model.isDisabled = false
  },
  async 'close the account'({ model }, pick) {
    const found = pickOne(model.sessions, pick)
    // Rare, so that most sequences continue with an open account.
    if (!found || pick % 5 > 0) return
    const { status } = await found.visitor.json('/account/close', { password: model.password })
    const may = model.isOpen && found.isLive
    assert.equal(status, may ? 204 : 401)
    if (!may) return
    model.endAll()
    model.isDeleted = true
  },
}

// Each sequence starts with three sessions and a token.
const beginning = ['sign in', 'sign in', 'take a token', 'sign in'].map((name) => [name, 0] as const)

describe('an account', () => {
  test('M5 agrees with a model after each of 40 random sequences of actions', async (t) => {
    const script = fc.array(fc.tuple(fc.constantFrom(...Object.keys(steps)), fc.nat(99)), {
      minLength: 3,
      maxLength: 12,
    })
    const sequences = fc.sample(script, 40)
    const site = await startSite(t)
    for (const [i, sequence] of sequences.entries()) {
      const { record } = await site.visitor().json('/users', registration(`Ada${i}`))
      const person = { id: String(record.id), name: `Ada${i}`, email: `ada${i}@example.com` }
      const world: World = { site, person, model: new Model() }
      try {
        for (const [name, pick] of [...beginning, ...sequence]) await steps[name]?.(world, pick)
        await assertAgrees(world)
      } catch (error) {
        throw new Error(`In the sequence ${JSON.stringify(sequence)}`, { cause: error })
      }
    }
  })
})

async function assertAgrees({ site, model }: World): Promise<void> {
  for (const { visitor, isLive } of model.sessions)
    assert.equal((await visitor.get('/me')).status, isLive && model.isOpen ? 200 : 401, 'a session')
  for (const { value, isLive } of model.tokens) {
    const { status } = await site.visitor().get('/me', bearer(value))
    assert.equal(status, isLive && model.isOpen ? 200 : 401, 'a token')
  }
}

function pickOne<Each>(all: readonly Each[], pick: number): Each | undefined {
  return all[pick % all.length]
}
