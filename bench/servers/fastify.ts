// Fastify 5 with its own plugins: @fastify/bearer-auth, @fastify/jwt, @fastify/cookie and @fastify/session.
import bearerAuth from '@fastify/bearer-auth'
import cookie from '@fastify/cookie'
import jwt from '@fastify/jwt'
import session from '@fastify/session'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { cookieSecret } from '../data.ts'
import { algorithm, host, issuer, jwtKeyText, port } from './environment.ts'
import { accountPage, loginPage } from './pages.ts'
import type { Person } from './row-rules.ts'
import { endSession, saveSession, userBySession, userByToken } from './rows-sqlite.ts'

declare module 'fastify' {
  interface FastifyRequest {
    person: Person | null
  }
  interface Session {
    person?: Person
  }
}

const app = Fastify({ trustProxy: true })
const string = { type: 'string' }
const record = { type: 'object', properties: { id: string, name: string, email: string } }

app.decorateRequest('person', null)
app.get('/healthz', () => 'ok')

app.register(async (api) => {
  await api.register(bearerAuth, {
    keys: [],
    auth(token: string, request: FastifyRequest) {
      request.person = userByToken(token) ?? null
      return request.person !== null
    },
  })
  api.get('/me', { schema: { response: { 200: record } } }, ({ person }) => person)
})

app.register(async (api) => {
  await api.register(jwt, {
    secret: algorithm === 'HS256' ? jwtKeyText : { private: '', public: jwtKeyText },
    verify: { algorithms: [algorithm], allowedIss: issuer, allowedAud: issuer },
  })
  // The plugin responds with 500 to a token with another algorithm.
  const verified = async (request: FastifyRequest, reply: FastifyReply) => {
    try {
      await request.jwtVerify()
    } catch {
      return reply.code(401).send({ error: 'Unauthorized' })
    }
  }
  api.post('/validateLoggedInUser', { onRequest: verified }, (_request, reply) => reply.send(''))
})

app.register(async (pages) => {
  await pages.register(cookie)
  await pages.register(session, {
    secret: cookieSecret,
    rolling: false,
    saveUninitialized: false,
    cookie: { maxAge: 24 * 60 * 60 * 1000, secure: true, sameSite: 'lax' },
    store: {
      get(id, done) {
        // Loads the user with the session, so that no route needs another look-up.
        const person = userBySession(id)
        done(null, person ? ({ cookie: {}, person } as never) : null)
      },
      set(id, data, done) {
        saveSession(id, data)
        done()
      },
      destroy(id, done) {
        endSession(id)
        done()
      },
    },
  })
  pages.get('/account', ({ session }, reply) => {
    if (!session.person) return reply.redirect('/login')
    return reply.type('text/html; charset=utf-8').send(accountPage(session.person))
  })
  pages.get('/login', ({ session }, reply) => {
    if (session.person) return reply.redirect('/account')
    return reply.type('text/html; charset=utf-8').send(loginPage())
  })
})

await app.listen({ port, host })
