import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const entities = `
import { defineEntity, p } from '@mikro-orm/core'
import { ModelAuthenticatable, ModelSessionAuthenticatable, ModelTokenAuthenticatable } from '#auth/mikro-orm'
const UserSchema = defineEntity({
  name: 'User',
  properties: { id: p.uuid().primary(), email: p.string(), passwordHash: p.string(), bornAt: p.datetime() },
})
const TokenSchema = defineEntity({
  name: 'Token',
  properties: { id: p.uuid().primary(), value: p.string(), uses: p.integer(), user: () => p.manyToOne(UserSchema) },
})
const keys = { username: 'email', passwordHash: 'passwordHash' } as const
const tokenKeys = { value: 'value', user: 'user' } as const
`

const routes = `
import Router from '@koa/router'
import Koa from 'koa'
import { type AuthContext, auth, BasicAuthenticator, BearerAuthenticator, guard, redirectUnless, SessionAuthenticator } from '#auth'
class User { readonly name: string = 'Ada'; readonly sessionID: string = '1' }
class Admin { readonly level: number = 1 }
const router = new Router<object, AuthContext>()
`

const equal =
  'type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false\n'

// The programs by description.
const programs = {
  'the results of require and get': `${routes}${equal}
    router.get('/me', guard(User), (ctx) => {
      const required = ctx.auth.require(User)
      const gotten = ctx.auth.get(User)
      const isRequired: Equal<typeof required, User> = true
      const isGotten: Equal<typeof gotten, User | undefined> = true
      const isAdmin: Equal<ReturnType<typeof ctx.auth.require<Admin>>, Admin> = true
      ctx.body = [required.name, isRequired, isGotten, isAdmin, ctx.auth.has(Admin)]
    })
    const app = new Koa<object, AuthContext>()
    app.use(auth()).use(redirectUnless(User, (ctx) => ctx.path)).use(router.routes())
    app.use((ctx) => { ctx.body = ctx.auth.require(Admin).level })`,
  'a plain application': `${routes}
    const app = new Koa()
    app.use(auth())
    app.use(guard(User))
    app.use(router.routes())`,
  'a plain router': `${routes}${equal}
    new Router().get('/me', guard(User), (ctx) => {
      const user = ctx.auth.require(User)
      const isUser: Equal<typeof user, User> = true
      ctx.body = isUser
    })`,
  'a misspelt property of the user in a plain router': `${routes}
    new Router().get('/me', (ctx) => { ctx.body = ctx.auth.require(User).nmae })`,
  'a misspelt property of the user in a plain application': `${routes}
    new Koa().use((ctx) => { ctx.body = ctx.auth.require(User).nmae })`,
  'a misspelt ctx.auth': `${routes}
    router.get('/me', (ctx) => { ctx.body = ctx.atuh.require(User).name })`,
  'a misspelt ctx.auth in an application': `${routes}
    new Koa<object, AuthContext>().use((ctx) => { ctx.body = ctx.atuh.require(User).name })`,
  'a misspelt method': `${routes}
    router.get('/me', (ctx) => { ctx.body = ctx.auth.requier(User) })`,
  'a misspelt property of the user': `${routes}
    router.get('/me', (ctx) => { ctx.body = ctx.auth.require(User).nmae })`,
  'a user of another type': `${routes}
    router.get('/me', (ctx) => { ctx.body = ctx.auth.require(Admin).name })`,
  'a user that may be undefined': `${routes}
    router.get('/me', (ctx) => { ctx.body = ctx.auth.get(User).name })`,
  'a guard without a class': `${routes}
    router.get('/me', guard(new User()))`,
  'a log-in of a string': `${routes}
    router.get('/me', (ctx) => { ctx.auth.login('ada') })`,
  'a log-in as another class': `${routes}
    router.get('/me', (ctx) => { ctx.auth.login(new Admin(), User) })`,
  'a look-up that returns another class': `${routes}
    BearerAuthenticator.from(Admin, async (token) => (token === 'a' ? new User() : null))`,
  'an asynchronous look-up': `${routes}
    const find = async (token: string) => (token === 'a' ? new User() : null)
    router.use(BearerAuthenticator.from(User, find), SessionAuthenticator.from(User, find))`,
  'an authenticator without its method': `${routes}
    class Lacking extends BasicAuthenticator<User> { readonly user = User }`,
  'an authenticator without its user type': `${routes}
    class Lacking extends BasicAuthenticator<User> { override authenticate() {} }`,
  'a session user without a sessionID': `${routes}
    abstract class Lacking extends SessionAuthenticator<Admin> {}`,
  'a fresh sign-in': `${routes}
    import type { Authentication, Duration } from '#auth'
    const fresh: Duration = '30s'
    router.post('/confirm', guard(User, { fresh }), redirectUnless(User, '/confirm', { fresh: 600_000 }), (ctx) => {
      ctx.auth.login(ctx.auth.require(User), User, { methods: ['pwd', 'otp'] })
      const proof: Authentication | undefined = ctx.auth.authentication(User)
      ctx.body = [proof?.at.getTime(), proof?.methods.includes('pwd'), ctx.auth.isFresh(User, '1d')]
    })
    class ByKey extends BasicAuthenticator<User> {
      readonly user = User
      override readonly methods = ['hwk']
      authenticate() {}
    }
    router.use(new ByKey().middleware())`,
  'a duration in words': `${routes}
    router.get('/me', guard(User, { fresh: '10 minutes' }))`,
  'a guard for two classes': `${routes}
    router.get('/me', guard(User, Admin))`,
  'a misspelt option of a guard': `${routes}
    router.get('/me', guard(User, { alow: () => false }))`,
  'guards with options': `${routes}
    router.get('/a', guard(User, { fresh: '1h', methods: ['otp'], allow: ({ name }) => name === 'Ada' }))
    router.get('/b', guard([User, Admin], { allow: async (user, ctx) => 'level' in user || user.name === ctx.path }))
    router.get('/c', redirectUnless([User, Admin], '/login', { methods: ['otp'] }))
    router.use(BearerAuthenticator.from(User, () => new User(), { realm: 'api' }))
    class Returning extends BasicAuthenticator<User> {
      readonly user = User
      async authenticate({ username }: { username: string }) { return username ? new User() : undefined }
    }
    router.use(new Returning().middleware())`,
  'an option for a user of another class': `${routes}
    router.get('/me', guard(User, { allow: ({ level }) => level === 1 }))`,
  'an authenticator that returns another class': `${routes}
    class Wrong extends BasicAuthenticator<Admin> {
      readonly user = Admin
      override authenticate() { return new User() }
    }`,
  'a method that is not a list': `${routes}
    router.get('/me', (ctx) => { ctx.auth.login(new User(), User, { methods: 'pwd' }) })`,
  'an unknown value of remember': `${routes}
    abstract class FromSession extends SessionAuthenticator<User> {
      constructor() { super({ remember: 'always' }) }
    }`,
  'complete models': `${entities}${equal}
    import type { EntityManager } from '@mikro-orm/core'
    import type { AuthContext } from '#auth'
    class User extends ModelAuthenticatable(UserSchema.class, keys) {
      static override async verifyNobody(_password: string) {}
      verify(password: string) { return password === this.passwordHash }
    }
    class Slow extends ModelAuthenticatable(UserSchema.class, keys) {
      async verify(password: string) { return password === this.passwordHash }
    }
    class Token extends ModelTokenAuthenticatable(TokenSchema.class, tokenKeys) {
      static override stored(token: string) { return token || undefined }
      get isValid() { return this.uses < 10 }
    }
    class Member extends ModelSessionAuthenticatable(UserSchema.class) {}
    export function handler(ctx: AuthContext, em: EntityManager) {
      const user = ctx.auth.require(User)
      const isUser: Equal<typeof user, User> = true
      const text: string[] = [user.email, user.sessionID, ctx.auth.require(Token).value]
      const date: Date = ctx.auth.require(Member).bornAt
      const made: User = em.create(User, { email: 'a@b.co', passwordHash: '', bornAt: date })
      return [isUser, text, made, User.authenticator(), User.credentialsAuthenticator({ database: 'archive' }),
        Slow.sessionAuthenticator({ remember: 'signed-in', key: 'slow' }), Token.authenticator(), Member.sessionAuthenticator()]
    }`,
  'a model without verify': `${entities}
    class User extends ModelAuthenticatable(UserSchema.class, keys) {}`,
  'a model whose verify returns another type': `${entities}
    class User extends ModelAuthenticatable(UserSchema.class, keys) { verify(password: string) { return password } }`,
  'a token model without isValid': `${entities}
    class Token extends ModelTokenAuthenticatable(TokenSchema.class, tokenKeys) {}`,
  'a wrong key for the user name': `${entities}
    ModelAuthenticatable(UserSchema.class, { username: 'mail', passwordHash: 'passwordHash' })`,
  'a user name that is a date': `${entities}
    ModelAuthenticatable(UserSchema.class, { username: 'bornAt', passwordHash: 'passwordHash' })`,
  'no key for the hash': `${entities}
    ModelAuthenticatable(UserSchema.class, { username: 'email' })`,
  'a wrong key for the token value': `${entities}
    ModelTokenAuthenticatable(TokenSchema.class, { value: 'uses', user: 'user' })`,
  "a wrong key for the token's user": `${entities}
    ModelTokenAuthenticatable(TokenSchema.class, { value: 'value', user: 'owner' })`,
  'an authenticator without parentheses': `${entities}
    import Koa from 'koa'
    class User extends ModelAuthenticatable(UserSchema.class, keys) { verify() { return true } }
    new Koa().use(User.authenticator)`,
  'a session authenticator without parentheses': `${routes}${entities}
    class Person extends ModelAuthenticatable(UserSchema.class, keys) { verify() { return true } }
    router.get('/me', Person.sessionAuthenticator)`,
  'a token authenticator without parentheses': `
    import Koa from 'koa'
    import { SessionToken } from '#auth/jwt'
    new Koa().use(SessionToken.authenticator)`,
  'a misspelt property of a model': `${entities}
    import type { AuthContext } from '#auth'
    class User extends ModelAuthenticatable(UserSchema.class, keys) { verify() { return true } }
    export const handler = (ctx: AuthContext) => ctx.auth.require(User).emial`,
}

/** The compiler's errors for each program, from one run. */
function compile(): Map<string, string> {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  // A folder inside the repository, so that modules resolve. Git and the other tools ignore `dist`.
  mkdirSync(`${root}/dist`, { recursive: true })
  const folder = mkdtempSync(`${root}/dist/types-`)
  after(() => rmSync(folder, { recursive: true }))
  const compilerOptions = { noUnusedLocals: false }
  writeFileSync(
    `${folder}/tsconfig.json`,
    JSON.stringify({ extends: '../../tsconfig.json', compilerOptions, include: ['.'] }),
  )
  const names = Object.keys(programs)
  for (const [i, text] of Object.values(programs).entries())
    writeFileSync(`${folder}/${i}.ts`, `${text}\nexport {}\n`)
  const tsc = fileURLToPath(import.meta.resolve('typescript/package.json').replace('package.json', 'bin/tsc'))
  const { stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], {
    encoding: 'utf8',
    cwd: folder,
  })
  assert.equal(stderr, '')
  const said = new Map<string, string>()
  for (const block of stdout.split(/^(?=\S)/m)) {
    const name = names[Number.parseInt(block, 10)] ?? block
    said.set(name, (said.get(name) ?? '') + block)
  }
  return said
}

describe('types', () => {
  const said = compile()

  const accepted = [
    'the results of require and get',
    'a plain application',
    'a plain router',
    'an asynchronous look-up',
    'complete models',
    'a fresh sign-in',
    'guards with options',
  ]

  const refusals: [what: keyof typeof programs, error: RegExp][] = [
    ['a misspelt ctx.auth', /Property 'atuh' does not exist/],
    ['a misspelt ctx.auth in an application', /Property 'atuh' does not exist/],
    ['a misspelt method', /Property 'requier' does not exist on type 'Auth'\. Did you mean 'require'\?/],
    ['a misspelt property of the user', /Property 'nmae' does not exist on type 'User'/],
    ['a misspelt property of the user in a plain router', /Property 'nmae' does not exist on type 'User'/],
    [
      'a misspelt property of the user in a plain application',
      /Property 'nmae' does not exist on type 'User'/,
    ],
    ['a user of another type', /Property 'name' does not exist on type 'Admin'/],
    ['a user that may be undefined', /Object is possibly 'undefined'/],
    [
      'a guard without a class',
      /'User' is not assignable to parameter of type 'Class \| readonly Class\[\]'/,
    ],
    ['a log-in of a string', /'string' is not assignable to parameter of type 'object'/],
    ['a log-in as another class', /Property 'level' is missing in type 'User'/],
    ['a look-up that returns another class', /Property 'level' is missing in type 'User'/],
    ['an authenticator without its method', /does not implement inherited abstract member authenticate/],
    ['an authenticator without its user type', /does not implement inherited abstract member user/],
    ['a session user without a sessionID', /Property 'sessionID' is missing in type 'Admin'/],
    ['an unknown value of remember', /'"always"' is not assignable to type '"authenticated" \| "signed-in"/],
    ['a duration in words', /'"10 minutes"' is not assignable to type 'Duration/],
    ['a guard for two classes', /'typeof Admin' has no properties in common with type 'GuardOptions/],
    ['a misspelt option of a guard', /'alow' does not exist in type 'GuardOptions<User>'/],
    ['an option for a user of another class', /Property 'level' does not exist on type 'User'/],
    ['an authenticator that returns another class', /'User' is not assignable to type/],
    ['a method that is not a list', /'string' is not assignable to type 'readonly string\[\]'/],
    ['a model without verify', /'User' does not implement inherited abstract member verify/],
    [
      'a model whose verify returns another type',
      /'verify'.*'User'[\s\S]*'string' is not assignable to type 'boolean/,
    ],
    ['a token model without isValid', /'Token' does not implement inherited abstract member isValid/],
    ['a wrong key for the user name', /'"mail"' is not assignable to type '.*"email"/],
    ['a user name that is a date', /'"bornAt"' is not assignable to type 'StringKey</],
    ['no key for the hash', /Property 'passwordHash' is missing/],
    ['a wrong key for the token value', /'"uses"' is not assignable to type 'StringKey</],
    ["a wrong key for the token's user", /'"owner"' is not assignable to type '.*"user"/],
    ['an authenticator without parentheses', /Types of parameters 'next' and 'next' are incompatible/],
    ['a session authenticator without parentheses', /Types of parameters 'next' and 'next' are incompatible/],
    [
      'a token authenticator without parentheses',
      /Property 'verify' is missing in type .* required in type 'JWTVerifier'/,
    ],
    ['a misspelt property of a model', /Property 'emial' does not exist.*Did you mean 'email'\?/],
  ]

  test('S15 accept correct programs', () => {
    for (const good of accepted) assert.equal(said.get(good), undefined, good)
  })

  test('S15 S32 S78 reject each wrong program with one clear error', () => {
    for (const [bad, sentence] of refusals) {
      const text = said.get(bad) ?? ''
      assert.match(text, sentence, bad)
      assert.equal(text.match(/ error TS/g)?.length, 1, text)
    }
  })

  test('report no other error, and every program is tested', () => {
    assert.equal(Object.keys(programs).length, accepted.length + refusals.length)
    assert.deepEqual(
      [...said.keys()].filter((name) => !Object.hasOwn(programs, name)),
      [],
    )
  })
})
