import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import Router from '@koa/router'
import Koa from 'koa'
import { type AuthContext, auth } from '../auth.ts'
import { guard } from '../guard.ts'
import {
  CookieFlows,
  type FlowData,
  type Identity,
  type IdentityProvider,
  ProviderAuthenticator,
  providerAnswer,
  startFlow,
} from '../openid/index.ts'
import { Browser } from './browser.ts'
import { serve } from './serve.ts'

/** The user of the application: the identity of the provider. */
export class Person {
  readonly identity: Identity
  constructor(identity: Identity) {
    this.identity = identity
  }
}

/** An application that signs in with providers whose callback is `/NAME/callback`. In each request, `signedIn` is signed in already. */
export async function serveProviders(
  t: TestContext,
  make: (callback: (name: string) => string) => readonly IdentityProvider[],
  { signedIn }: { signedIn?: Person } = {},
) {
  const app = new Koa<object, AuthContext>()
  app.use(auth())
  app.use((ctx, next) => {
    if (signedIn) ctx.auth.login(signedIn)
    return next()
  })
  const router = new Router<object, AuthContext>()
  app.use(router.routes())
  // Served before the routes exist, because the callback URL has the port.
  const { url, errors } = await serve(t, app)
  const flows = new CookieFlows({ secret: 'a secret of thirty-two characters', secure: false })
  for (const provider of make((name) => `${url}/${name}/callback`)) {
    const signInWith = { provider, flows }
    const authenticator = ProviderAuthenticator.from(Person, signInWith, (identity) => new Person(identity))
    router.post(
      `/${provider.name}`,
      startFlow(signInWith, ({ query }) => ({ data: { next: '/after' }, ...maxAgeOf(query.maxAge) })),
    )
    router.get(`/${provider.name}/callback`, authenticator, report)
    router.get(`/${provider.name}/guarded/callback`, authenticator, guard(Person), report)
  }
  return { url, errors, browser: () => new Browser(url) }
}

function maxAgeOf(value: string | string[] | undefined) {
  return value === undefined ? {} : { maxAge: Number(value) }
}

function report(ctx: AuthContext): void {
  const answer = providerAnswer(ctx)
  const refused = answer && 'refused' in answer ? answer.refused : undefined
  const data: FlowData | undefined = answer?.flow?.data
  if (ctx.auth.failure) ctx.status = 503
  ctx.body = {
    user: ctx.auth.peek(Person)?.identity,
    refused,
    code: answer && 'code' in answer ? answer.code : undefined,
    data,
    isFresh: ctx.auth.isFresh(Person, '10m'),
  }
}

/** Starts a flow, and returns the URL at the provider. */
export async function begin(browser: Browser, path: string): Promise<URL> {
  const response = await browser.post(path)
  const page = await response.text()
  assert.equal(response.status, 200, page)
  const [, address = ''] = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(page) ?? []
  return new URL(address.replaceAll('&amp;', '&'))
}

/** Opens the URL of a fake provider, which asks nothing. Returns the path and query of its answer. */
export async function visit(url: URL): Promise<string> {
  const { status, headers } = await fetch(url, { redirect: 'manual' })
  assert.equal(status, 302)
  const { pathname, search } = new URL(headers.get('location') ?? '')
  return pathname + search
}

/** The whole way: starts a flow, visits the provider, and returns what the callback responds. */
export async function signInWith(browser: Browser, path: string) {
  return read(await browser.get(await visit(await begin(browser, path))))
}

/** The response of the callback. */
export async function read(response: Response) {
  const body = (await response.json()) as {
    user?: Identity
    refused?: string
    code?: string
    data?: FlowData
    isFresh: boolean
  }
  return { status: response.status, ...body }
}
