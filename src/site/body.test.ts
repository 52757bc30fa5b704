import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import Koa from 'koa'
import { serve } from '../auth/testing/serve.ts'
import { basic, bearer, signIn, signUp, takeJWT } from '../testing/people.ts'
import { startSite } from '../testing/site.ts'
import { body } from './body.ts'

const html = 'Accept: text/html\r\n'

describe('a client that disconnects before the end of its body', () => {
  test('N9 causes no 5xx and no warning in the log', async (t) => {
    // With this cost, some clients disconnect while their password is verified.
    const site = await startSite(t, { BCRYPT_COST: '9' })
    const { authorization } = basic(await signUp(site))
    const { hostname, port } = new URL(site.url)
    const lines = () => site.log.map((line) => JSON.parse(line))
    const posts = () => lines().filter(({ method }) => method === 'POST').length
    const before = posts()
    let hungUp = 0
    for (const path of ['/login', '/users', '/logout', '/account/name', '/nowhere']) {
      for (const header of ['', html, `Authorization: ${authorization}\r\n`]) {
        const head = `POST ${path} HTTP/1.1\r\nHost: x\r\n${header}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`
        for (const leave of ['destroy', 'resetAndDestroy'] as const) {
          const socket = connect(Number(port), hostname)
          await once(socket, 'connect')
          socket.write(head)
          await site.visitor().get('/healthz')
          socket[leave]()
          hungUp += 1
        }
      }
    }
    while (posts() < before + hungUp) await setImmediate()
    for (const line of lines()) assert.ok(line.level <= 30 && !(line.status >= 500), JSON.stringify(line))
  })

  test('causes 400 if it has disconnected before the body is read', async (t) => {
    const statuses: unknown[] = []
    const app = new Koa()
    app.silent = true
    app.use(async (ctx, next) => {
      await new Promise((resolve) => ctx.req.once('close', resolve).once('error', resolve))
      await setImmediate()
      await next().catch(({ status }) => statuses.push(status))
    })
    app.use(body())
    const { url } = await serve(t, app)
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{')
    socket.destroy()
    while (statuses.length === 0) await setImmediate()
    assert.deepEqual(statuses, [400])
  })
})

describe('a request without a body', () => {
  test('needs no media type, and neither does a GET with a body', async (t) => {
    const site = await startSite(t)
    const person = await signUp(site)
    const ada = await signIn(site, person)
    const jwt = bearer(await takeJWT(site, person))
    for (const headers of [{}, { 'content-type': 'text/plain' }, { 'content-type': 'application/json' }]) {
      assert.equal((await site.visitor().post('/validateLoggedInUser', { ...jwt, ...headers })).status, 200)
      assert.equal((await ada.post('/account/sessions/end-others', headers)).status, 204)
    }
    // The body of a GET has no meaning (RFC 9110 §9.3.1).
    const type = { 'content-type': 'text/plain' }
    assert.equal((await ada.send('GET', '/me', { ...type, 'content-length': '3' }, 'x=y')).status, 200)
  })

  test('is passed on in the same event-loop turn', async (t) => {
    const app = new Koa()
    const pass = body()
    app.use((ctx) => {
      let isPassedOn = false
      pass(ctx, async () => {
        isPassedOn = true
      })
      ctx.body = { isPassedOn }
    })
    const { url } = await serve(t, app)
    for (const method of ['GET', 'POST'])
      assert.deepEqual(await (await fetch(url, { method })).json(), { isPassedOn: true }, method)
  })
})
