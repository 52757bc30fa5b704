import { test } from 'node:test'
import Database from 'better-sqlite3'
import { startSite } from '../testing/site.ts'
import { signUp, signIn, basic, registration, bearer, takeToken } from '../testing/people.ts'
import { sql } from '../testing/database.ts'

const timed = async (what: string, run: () => Promise<any>) => {
  const s = performance.now()
  const r = await Promise.race([run().then((a: any) => `${a.status} ${a.headers?.['retry-after']} ${a.cookies}`, (e: any) => 'ERR ' + e.message.slice(0, 200)), new Promise((r) => setTimeout(() => r('HANG'), 8000))])
  console.log(what, r, Math.round(performance.now() - s), 'ms')
}
test('full', async (t) => {
  const site = await startSite(t, { THROTTLE: 'on' })
  const p = await signUp(site)
  await sql(site, 'pragma max_page_count = 1')
  for (let i = 0; i < 3; i++) { await timed('signup ', () => site.visitor().json('/users', registration('Bob' + i)))
  await timed('home', () => site.visitor().page('/'))
  await timed('login', () => site.visitor().post('/login', basic(p)))
  await timed('readyz', () => site.visitor().get('/readyz')) }
  console.log(site.log.filter((l) => JSON.parse(l).level >= 40).map((l) => l.slice(0, 600)).join('\n'))
})
test('lock', async (t) => {
  const site = await startSite(t, { THROTTLE: 'on' })
  const p = await signUp(site)
  const ada = await signIn(site, p)
  const token = await takeToken(site, p)
  const other = new Database(site.config.databaseUrl.slice(7))
  other.exec('begin exclusive')
  let worst = 0, last = performance.now()
  const i = setInterval(() => { const n = performance.now(); worst = Math.max(worst, n - last - 5); last = n }, 5)
  await Promise.all([timed('home', () => ada.page('/')), timed('me', () => ada.get('/me')), timed('signup ', () => site.visitor().json('/users', registration('Bob'))),
   ...Array.from({length: 10}, () => timed('login form', () => site.visitor().form('/login', { username: p.email, password: 'x' }))),
   ...Array.from({length: 10}, (_, i) => timed('signup', () => site.visitor().json('/users', registration('Bob' + i)))),
   timed('me token', () => site.visitor().get('/me', bearer(token))),
   timed('logout', () => ada.form('/logout', {}))])
  console.log('worst', worst)
  clearInterval(i)
  other.exec('rollback'); other.close()
  await timed('me', () => ada.get('/me'))
  console.log(site.log.filter((l) => JSON.parse(l).level >= 40).map((l) => l.slice(0, 300)).slice(0, 5).join('\n'))
})
