import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { dump, sql } from '../../testing/database.ts'
import { flushHolder } from '../../testing/hold-flush.ts'
import { basic, bearer, signIn, signUp, takeJWT, takeToken } from '../../testing/people.ts'
import { startSite } from '../../testing/site.ts'

const path = '/account/name'

describe('POST /account/name', () => {
  test('changes the name, 303 to the account, and says so once', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const { status, headers } = await ada.form(path, { name: '  Ada, Countess of Lovelace ' })
    assert.deepEqual([status, headers.location], [303, '/account'])
    const { text } = await ada.page('/account')
    assert.match(text, /role="status">Your name has been changed\./)
    assert.match(text, /<bdi>Ada, Countess of Lovelace<\/bdi>/)
    assert.match(
      text,
      /<input id="name" name="name" type="text" autocomplete="name"[^>]*value="Ada, Countess of Lovelace"/,
    )
    assert.doesNotMatch((await ada.page('/account')).text, /has been changed/)
    assert.deepEqual(await sql(site, 'select name from users'), [{ name: 'Ada, Countess of Lovelace' }])
  })

  test('answers a program with the record, by session and by Basic, which starts no session', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    const bySession = await ada.json(path, { name: 'Ada 2' })
    assert.deepEqual([bySession.status, bySession.record], [200, { ...person, name: 'Ada 2' }])
    const byBasic = await site.visitor().json(path, { name: 'Ada 3' }, basic(person))
    assert.deepEqual(
      [byBasic.status, byBasic.record, byBasic.cookies],
      [200, { ...person, name: 'Ada 3' }, []],
    )
    assert.equal((await ada.get('/me')).record.name, 'Ada 3')
  })

  test('refuses what sign-up refuses, and shows the form again with what was typed', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const before = await dump(site)
    const bad = ['', '  ', 'x'.repeat(101), 'a\nb', 'a\0b', '\u202eabc', '\u200b\u200d', '\u0007']
    for (const name of bad) {
      const { status, record } = await ada.json(path, { name })
      const fields = (record.errors as { field: string }[]).map(({ field }) => field)
      assert.deepEqual([status, fields], [400, ['name']], JSON.stringify(name))
      const form = await ada.form(path, { name })
      assert.equal(form.status, 400)
      assert.match(form.text, /<title>Error: Your account/)
      assert.match(form.text, /<a href="#name">/)
    }
    const { text } = await ada.form(path, { name: `"><script>${'x'.repeat(100)}` })
    assert.match(text, /value="&quot;&gt;&lt;script&gt;x/)
    assert.match(text, /<bdi>Ada<\/bdi>/, 'the header has the name that she has')
    for (const name of [undefined, null, 1, true, ['Ada'], { $ne: '' }])
      assert.equal((await ada.json(path, { name })).status, 400)
    assert.deepEqual(await dump(site), before)
  })

  test('K5 changes the name and nothing else, whatever else is sent', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const [before] = await sql(site, 'select * from users')
    const more = {
      id: 'x',
      email: 'eve@example.com',
      emailKey: 'x',
      passwordHash: 'x',
      disabledAt: 1,
      user: 'x',
    }
    assert.equal((await ada.json(path, { ...more, name: 'Eve' })).status, 200)
    assert.deepEqual(await sql(site, 'select * from users'), [{ ...before, name: 'Eve' }])
  })

  test('is for nobody who comes with a token, as a stranger, or from another site', async (t) => {
    const { site, ada, person } = await siteWithAda(t)
    const [token, jwt] = [await takeToken(site, person), await takeJWT(site, person)]
    const before = await dump(site)
    for (const each of [token, jwt])
      assert.equal((await site.visitor().json(path, { name: 'Eve' }, bearer(each))).status, 401)
    assert.equal((await site.visitor().json(path, { name: 'Eve' })).status, 401)
    const { status, headers } = await site.visitor().form(path, { name: 'Eve' })
    assert.deepEqual([status, headers.location], [303, '/login'])
    assert.equal((await ada.form(path, { name: 'Eve' }, { 'sec-fetch-site': 'cross-site' })).status, 403)
    assert.deepEqual(await dump(site), before)
  })

  test('beside the end of the account is no error of ours', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const held = flushHolder(site)()
    const running = ada.form(path, { name: 'Eve' })
    await held.begun
    await sql(site, 'delete from users')
    held.release()
    const { status } = await running
    assert.ok(status < 500, `${status}`)
    assert.deepEqual(await sql(site, 'select * from users'), [])
    assert.deepEqual(await sql(site, 'select * from sessions'), [])
  })
})

async function siteWithAda(t: TestContext) {
  const site = await startSite(t)
  const person = await signUp(site)
  return { site, person, ada: await signIn(site, person) }
}
