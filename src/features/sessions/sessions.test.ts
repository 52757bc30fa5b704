import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { limits } from '../../account/sessions/stored-session.ts'
import { digestOf } from '../../database/identifier.ts'
import { count, dump, sql } from '../../testing/database.ts'
import { basic, type Person, password, signIn, signUp } from '../../testing/people.ts'
import { type Site, startSite } from '../../testing/site.ts'
import type { Visitor } from '../../testing/visitor.ts'

const minute = 60_000
const html = { accept: 'text/html' }
const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0'
const safari =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'
const path = '/account/sessions'

describe('GET /account/sessions', () => {
  test('E11 returns the device, the start and the last use of each session, and whether it is persistent or current', async (t) => {
    const { site, person, here } = await siteWithSession(t)
    const phone = await signInFrom(site, person, safari, { remember: 'on' })
    const start = Date.now() - 30 * minute
    await sql(site, 'update sessions set created_at = ?, seen_at = ? where digest = ?', [
      start,
      start + minute,
      digestOf(phone.session ?? ''),
    ])
    const { status, headers, text } = await here.get(path)
    assert.equal(status, 200)
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    const [own, other, ...more] = JSON.parse(text)
    assert.deepEqual(more, [])
    assert.deepEqual(Object.keys(own), [
      ...['id', 'device', 'address', 'startedAt', 'seenAt', 'methods', 'kept', 'current'],
    ])
    assert.deepEqual([own.device, own.kept, own.current], ['Firefox on Windows', false, true])
    assert.deepEqual(
      { ...other, id: '' },
      {
        id: '',
        device: 'Safari on iPhone',
        address: '127.0.0.1',
        startedAt: new Date(start).toISOString(),
        seenAt: new Date(start + minute).toISOString(),
        methods: ['pwd'],
        kept: true,
        current: false,
      },
    )
    const [row] = await sql(site, 'select digest from sessions where id = ?', [other.id])
    assert.equal(row?.digest, digestOf(phone.session ?? ''))
  })

  test('returns the current session first, and the others by their last use', async (t) => {
    const { site, person, here } = await siteWithSession(t)
    for (const [userAgent, ago] of [
      ['old/1', 50],
      ['new/1', 10],
      ['middle/1', 20],
    ] as const) {
      const { session = '' } = await signInFrom(site, person, userAgent)
      await sql(site, 'update sessions set seen_at = ? where digest = ?', [
        Date.now() - ago * minute,
        digestOf(session),
      ])
    }
    assert.deepEqual(
      (await list(here)).map(({ device }) => device),
      ['Firefox on Windows', 'A program (new)', 'A program (middle)', 'A program (old)'],
    )
    const listed = JSON.parse((await site.visitor().get(path, basic(person))).text)
    assert.deepEqual(
      listed.map(({ current }: Listed) => current),
      [false, false, false, false],
      'a request with Basic has no session',
    )
    // Now the other sessions were used more recently than the current one.
    await sql(site, 'update sessions set seen_at = ? where digest <> ?', [
      Date.now() + minute,
      digestOf(here.session ?? ''),
    ])
    assert.deepEqual(
      (await list(here)).map(({ current }) => current),
      [true, false, false, false],
    )
  })

  test('shows 20 sessions on a page, with the way of the sign-in and a mark for a new one', async (t) => {
    const { site, person, here } = await siteWithSession(t)
    for (let i = 0; i < 22; i += 1) await signInFrom(site, person, `program${i}/1`)
    const rowsOf = (text: string) => text.match(/<li class="row">/g)?.length
    const { text } = await here.page(path)
    assert.equal(rowsOf(text), 20)
    assert.match(text, /Sign out 22 other sessions\?/)
    assert.equal(text.match(/with password\s*<\/span>/g)?.length, 20)
    assert.equal(text.match(/>New<\/span>/g)?.length, 19)
    assert.match(text, /<a href="\/account\/sessions\?page=2">Older sessions/)
    const second = await here.page(`${path}?page=2`)
    assert.equal(rowsOf(second.text), 3)
    assert.doesNotMatch(second.text, /Older sessions/)
    assert.equal((await list(here)).length, 23)
  })

  test('omits expired sessions and sessions of other users', async (t) => {
    const { site, person, here } = await siteWithSession(t)
    await signIn(site, await signUp(site, 'Bob'))
    const idle = await signIn(site, person)
    const tooOld = await signIn(site, person)
    await set(site, idle, 'seen_at', Date.now() - limits.usual.idle)
    await set(site, tooOld, 'created_at', Date.now() - limits.usual.absolute)
    assert.deepEqual(
      (await list(here)).map(({ current }) => current),
      [true],
    )
    assert.equal(await count(site, 'sessions'), 4)
  })

  test('shows each device with its IP address on the page, marks the current one, and has a button for each of the others', async (t) => {
    const { site, person, here } = await siteWithSession(t)
    await signInFrom(site, person, safari, { remember: 'on' })
    await signInFrom(site, person, '<script>alert(1)</script>/1')
    const { status, text } = await here.page(path)
    assert.equal(status, 200)
    const rows = text.split('<li class="row">').slice(1).join('')
    assert.match(
      rows,
      /Firefox on Windows <span class="badge">This device<\/span>.*An unknown device.*Safari on iPhone/s,
    )
    assert.match(
      rows,
      /Last active <time .* title="[^"]+ UTC">just now<\/time>.*IP address 127\.0\.0\.1.*for up to 30 days/s,
    )
    assert.equal(text.match(/This device/g)?.length, 1)
    assert.ok(!text.includes('<script>alert'))
    for (const { id, current } of await list(here))
      assert.equal(rows.includes(`action="${path}/${id}/end" `), !current, id)
    assert.match(text, /action="\/account\/sessions\/end-others" .*Sign out 2 other sessions\?/s)
    assert.match(text, /<form method="post" action="\/logout">/, 'the page has a sign-out button')
    const alone = await signIn(site, await signUp(site, 'Bob'))
    const page = await alone.page(path)
    assert.match(page.text, /You are not signed in anywhere else\./)
    assert.ok(!page.text.includes('end-others'))
  })
})

describe('POST /account/sessions/:id/end', () => {
  test('ends the session in the path immediately, and no other', async (t) => {
    const { site, person, here } = await siteWithSession(t)
    const [phone, laptop] = [await signInFrom(site, person, safari), await signIn(site, person)]
    const id = await idOf(site, phone)
    const { status, text, cookies } = await here.post(`${path}/${id}/end`)
    assert.deepEqual([status, text, cookies], [204, '', []])
    assert.equal((await phone.get('/me')).status, 401)
    assert.equal((await phone.page('/account')).headers.location, '/login?next=%2Faccount')
    for (const alive of [here, laptop]) assert.equal((await alive.get('/me')).status, 200)
    assert.equal(await count(site, 'sessions'), 2)
  })

  test('redirects a form back to the list, which shows a notice once', async (t) => {
    const { site, person, here } = await siteWithSession(t)
    const phone = await signInFrom(site, person, safari)
    const answer = await here.form(`${path}/${await idOf(site, phone)}/end`, {}, html)
    assert.deepEqual([answer.status, answer.headers.location], [303, path])
    assert.match((await here.page(path)).text, /Safari on iPhone has been signed out\./)
    assert.ok(!(await here.page(path)).text.includes('Safari on iPhone'))
    assert.equal((await phone.get('/me')).status, 401)
  })

  test('signs out if the path names the current session', async (t) => {
    const { site, person } = await siteWithSession(t)
    for (const format of [{}, html]) {
      const here = await signIn(site, person)
      const { session } = here
      const { status, headers, cookies } = await here.post(`${path}/${await idOf(site, here)}/end`, format)
      assert.deepEqual([status, headers.location], format === html ? [303, '/'] : [204, undefined])
      assert.deepEqual(cookies, ['session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax'])
      assert.equal(headers['clear-site-data'], '"cache", "storage"')
      assert.equal((await site.visitor(session).get('/me')).status, 401)
    }
    assert.equal(await count(site, 'sessions'), 1)
  })

  test("C6 sends the same response for another user's session, an ended session, an unknown id and an invalid id", async (t) => {
    const { site, person, here } = await siteWithSession(t)
    const bob = await signIn(site, await signUp(site, 'Bob'))
    const endedVisitor = await signIn(site, person)
    const ended = await idOf(site, endedVisitor)
    await endedVisitor.post('/logout')
    const before = await dump(site)
    const ids = [
      await idOf(site, bob),
      ended,
      '01932c07-209f-7000-8000-000000000000',
      (await idOf(site, bob)).toUpperCase(),
      digestOf(bob.session ?? ''),
      'x',
      '%00',
      '%ff',
      '%F0%9F%99%82',
      "'%20or%201=1",
      '__proto__',
      'x'.repeat(2000),
    ]
    for (const format of [{}, html, basic(person)]) {
      const answers = []
      for (const id of ids) {
        const { status, headers, challenges, cookies, text } = await here.post(`${path}/${id}/end`, format)
        const { date, ...others } = headers
        answers.push({ status, headers: others, challenges, cookies, text })
      }
      assert.equal(answers[0]?.status, 404)
      for (const [i, answer] of answers.entries()) assert.deepEqual(answer, answers[0], ids[i])
    }
    assert.deepEqual(await dump(site), before)
    assert.equal((await bob.get('/me')).status, 200)
  })
})

describe('POST /account/sessions/end-others', () => {
  test('E11 ends every other session of the user', async (t) => {
    const { site, person, here } = await siteWithSession(t)
    const bob = await signIn(site, await signUp(site, 'Bob'))
    const others = [await signIn(site, person), await signInFrom(site, person, safari, { remember: 'on' })]
    assert.equal((await here.post(`${path}/end-others`)).status, 204)
    for (const other of others) assert.equal((await other.get('/me')).status, 401)
    for (const alive of [here, bob]) assert.equal((await alive.get('/me')).status, 200)
    const again = await here.form(`${path}/end-others`, {}, html)
    assert.deepEqual([again.status, again.headers.location], [303, path])
    assert.match((await here.page(path)).text, /You have been signed out everywhere else\./)
    assert.equal(await count(site, 'sessions'), 2)
  })

  test('ends every session of the user if the request has Basic credentials', async (t) => {
    const { site, person, here } = await siteWithSession(t)
    const bob = await signIn(site, await signUp(site, 'Bob'))
    const { status, cookies } = await here.post(`${path}/end-others`, basic(person))
    assert.deepEqual([status, cookies], [204, []])
    assert.equal((await here.get('/me')).status, 401)
    assert.equal((await bob.get('/me')).status, 200)
  })
})

describe('the sessions of a user', () => {
  test('E17 are all valid after 20 concurrent sign-ins', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const visitors = await Promise.all(Array.from({ length: 20 }, () => signIn(site, person)))
    assert.equal(new Set(visitors.map(({ session }) => session)).size, 20)
    for (const visitor of visitors) assert.equal((await visitor.get('/me')).record.id, person.id)
    assert.equal((await list(visitors[0] ?? assert.fail())).length, 20)
  })

  test('E17 are not duplicated by 50 concurrent requests of one session', async (t) => {
    const { site, here } = await siteWithSession(t)
    await sql(site, 'update sessions set seen_at = seen_at - ?', [2 * minute])
    const answers = await Promise.all(Array.from({ length: 50 }, () => here.get(path)))
    for (const { status, cookies } of answers) assert.deepEqual([status, cookies], [200, []])
    assert.equal(await count(site, 'sessions'), 1)
  })
})

interface Listed {
  readonly id: string
  readonly device: string
  readonly current: boolean
}

async function siteWithSession(t: TestContext) {
  const site = await startSite(t)
  const person = await signUp(site, 'Ada')
  return { site, person, here: await signInFrom(site, person, firefox) }
}

async function signInFrom(site: Site, { email }: Person, userAgent: string, more: { remember?: 'on' } = {}) {
  const visitor = site.visitor()
  const fields = { username: email, password, ...more }
  assert.equal((await visitor.form('/login', fields, { 'user-agent': userAgent })).status, 303)
  return visitor
}

async function list(visitor: Visitor): Promise<Listed[]> {
  return JSON.parse((await visitor.get(path)).text)
}

async function idOf(site: Site, { session = '' }: { session?: string | undefined }): Promise<string> {
  const [row] = await sql(site, 'select id from sessions where digest = ?', [digestOf(session)])
  return String(row?.id)
}

function set(site: Site, { session = '' }: Visitor, column: 'seen_at' | 'created_at', time: number) {
  return sql(site, `update sessions set ${column} = ? where digest = ?`, [time, digestOf(session)])
}
