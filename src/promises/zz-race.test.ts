import { test } from 'node:test'
import { basic, bearer, password, signIn, signUp } from '../testing/people.ts'
import { startSite } from '../testing/site.ts'

test('race', async (t) => {
  const site = await startSite(t)
  let alive = 0, tok = 0, changed = 0, ok = 0
  for (let i = 0; i < 150; i += 1) {
    const person = await signUp(site, `P${i}`)
    const owner = await signIn(site, person)
    const next = 'eight wise canaries 1816'
    const thieves = Array.from({ length: 6 }, () => site.visitor())
    const logins = () => thieves.map(async (v, k) => {
      for (let n = 0; n < k; n++) await new Promise(setImmediate)
      if (k % 2) { const a = await v.json('/login', { username: person.email, password }); return a.status === 200 ? v : undefined }
      const a = await v.post('/login', basic(person)); return a.status === 200 ? String(a.record.value) : undefined
    })
    const change = owner.form('/account/password', { currentPassword: password, password: next, confirmPassword: next })
    const got = await Promise.all(logins())
    const { status } = await change
    if (status === 303) changed++
    for (const g of got) {
      if (!g) continue
      ok++
      if (typeof g === 'string') { if ((await site.visitor().get('/me', bearer(g))).status === 200) tok++ }
      else if ((await g.get('/me')).status === 200) alive++
    }
  }
  console.log({ changed, ok, alive, tok })
})
