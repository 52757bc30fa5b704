import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { signIn, signUp } from '../testing/people.ts'
import { providerSite } from '../testing/provider-site.ts'
import { routes } from '../testing/routes.ts'
import { Throttle } from '../throttle/throttle.ts'
import { User } from '../users/user.ts'

describe('owner', () => {
  test('P2 limits all requests of an owner that may write to 200 in 15 minutes', async (t) => {
    const { site } = await providerSite(t, { THROTTLE: 'on' })
    const person = await signUp(site)
    const ada = await signIn(site, person)
    const em = site.orm.em.fork()
    const { id } = await em.findOneOrFail(User, { email: person.email })
    const throttle = new Throttle(site.orm)
    for (let i = 0; i < 199; i += 1) await throttle.countIn(em, { action: 'change', account: id })
    assert.equal((await ada.json('/account/name', { name: 'Ada King' })).status, 200)
    const posts = routes.filter(({ method, path }) => method === 'POST' && /^\/(account|confirm)/.test(path))
    assert.ok(posts.length >= 18, `${posts.length} routes`)
    for (const { path } of posts) {
      const { status, headers } = await ada.json(path, {})
      assert.deepEqual([status, Number(headers['retry-after']) > 0], [429, true], path)
    }
    assert.equal((await ada.get('/account/sessions')).status, 200)
  })
})
