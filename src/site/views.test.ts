import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import Koa from 'koa'
import { accountPage, loginPage } from '../../bench/servers/pages.ts'
import { root } from '../config/root.ts'
import { pageExamples, payload } from '../testing/page-examples.ts'
import { page, views } from './page.ts'
import type { Common, Views } from './view-data.ts'

// One function for all tests, because each new one compiles all templates.
const renderView = views({ site: 'Example', version: 'abc' })
const ada = { name: 'Ada', email: 'ada@example.com' }

const states = await pageExamples()

const visitors: Common[] = [
  {},
  { isUserUnknown: true },
  { user: { name: payload, email: payload }, origin: `http://${payload}`, hasMail: true },
]

describe('views and page', () => {
  test('L2 every page is a complete document without inline code, other origins or unescaped values', async () => {
    for (const name of Object.keys(states) as (keyof Views)[]) {
      for (const data of states[name] ?? []) {
        for (const common of visitors) {
          const { html, type } = await render(name, data, common)
          assert.equal(type, 'text/html; charset=utf-8')
          assert.match(html, /^<!doctype html>\n<html lang="en">/)
          assert.equal(html.match(/<main /g)?.length, 1)
          assert.equal(html.match(/<h1>/g)?.length, 1)
          assert.equal(html.match(/<script/g)?.length, 1, 'only one script, with a src')
          assert.doesNotMatch(html, /<script>|<style|<img|\sstyle=|undefined<|="undefined|\[object/)
          const addresses = [...html.matchAll(/\s(?:href|src|action)="([^"]*)"/g)].map(
            ([, address]) => address,
          )
          assert.deepEqual(
            addresses.filter(
              (address) =>
                !/^(|\/[\w./-]*(\?(?:v=abc|kind=[\w-]+|next=[^\s<>]*))?(?:#[\w-]+)?|#[\w-]+|otpauth:\/\/totp\/[\w.%:?=&;-]+|https:\/\/github\.com\/koa-authenticators\/[\w./-]+|https:\/\/sso\.example\.com\/\?[^\s<>]*)$/.test(
                  address ?? '',
                ),
            ),
            [],
          )
          const ids = [...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id)
          assert.equal(new Set(ids).size, ids.length, 'ids are unique')
        }
      }
    }
  })

  test('every page has examples, which the other tests check', async () => {
    const files = await readdir(join(root, 'views'))
    const names = files.filter((file) => file.endsWith('.eta') && file !== 'layout.eta')
    for (const name of names)
      assert.ok(
        name.slice(0, -4) in states,
        `Add examples of ${name} to the file testing/pages.ts of its feature.`,
      )
  })

  test('a page is ASCII if its data is ASCII, and other characters in the data are not escaped', async () => {
    for (const name of Object.keys(states) as (keyof Views)[])
      for (const data of states[name] ?? []) assert.match((await render(name, data)).html, /^\p{ASCII}+$/u)
    assert.match((await render('sessions', { sessions: [], others: 0 })).html, /don&rsquo;t/)
    const { html } = await render('home', {}, { user: { ...ada, name: 'Łucja 🌻' } })
    assert.match(html, /Łucja 🌻/)
  })

  test('a time is formatted as by Intl.DateTimeFormat', async () => {
    const words = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })
    const [profile] = states.profile ?? []
    assert.ok(profile)
    for (let month = 0; month < 12; month += 1) {
      const createdAt = new Date(Date.UTC(2026, month, month + 1, 2 * month, 5 * month))
      const { html } = await render('profile', { ...profile, createdAt })
      assert.ok(html.includes(` title="${words.format(createdAt)} UTC">`), `${month}`)
    }
  })

  test('E11 every page has a sign-out button for a signed-in user, or a notice if the site cannot tell who is signed in', async () => {
    const signOut = /<form method="post" action="\/logout">/
    const notice = /cannot show your account right now/
    for (const name of Object.keys(states) as (keyof Views)[]) {
      const data = states[name]?.[0] as Views[typeof name]
      const signedIn = await render(name, data, { user: ada })
      assert.match(signedIn.html, signOut)
      assert.doesNotMatch(signedIn.html, notice)
      // The data of the profile page always contains a user.
      if (name === 'profile') continue
      const unknown = await render(name, data, { isUserUnknown: true })
      assert.doesNotMatch(unknown.html, signOut)
      assert.match(unknown.html, notice)
    }
  })

  test('a throttled attempt is a warning, and no field is marked as wrong', async () => {
    const errors = [{ detail: 'Too many attempts. Try again in 15 minutes.', isWarning: true }]
    for (const { html } of [
      await render('sign-in', { errors }),
      await render('change-password', { hasPassword: true, tokens: 0, errors }),
    ]) {
      assert.match(html, /<div class="callout warning" id="error-summary" role="alert" tabindex="-1">/)
      assert.equal(html.match(/Too many attempts/g)?.length, 1)
      assert.doesNotMatch(html, /aria-invalid="true"|has-error|There is a problem/)
    }
  })

  test('a 405 shows the page of a 404, and a 500 shows the start of the request id', async () => {
    const request = 'd1eb9acb-0000-4000-8000-000000000000'
    const method = await render(
      'error',
      {
        type: '/problems/method_not_allowed',
        status: 405,
        title: 'Method Not Allowed',
        detail: 'Use POST.',
        canRetry: false,
      },
      {},
      { requestId: request },
    )
    assert.match(method.html, /<h1>Page not found<\/h1>/)
    assert.doesNotMatch(method.html, /POST|method|d1eb9acb|About this error/)
    const broken = await render(
      'error',
      {
        type: '/problems/internal_error',
        status: 500,
        title: 'Something went wrong',
        detail: 'It is logged.',
        canRetry: true,
      },
      {},
      { requestId: request },
    )
    assert.match(broken.html, /<a href="\/problems\/internal_error">About this error<\/a>/)
    assert.match(
      broken.html,
      /<h1>Something went wrong<\/h1>[\s\S]*Reference: <code[^>]*>d1eb9acb<\/code>[\s\S]*<a class="button" href="">Try again/,
    )
  })

  test('an error page links to sign-in for 401, and to the home page for 404', async () => {
    const detail = 'You need to sign in.'
    const refused = await render('error', {
      type: '/problems/session_required',
      status: 401,
      title: 'Sign in first',
      detail,
      canRetry: true,
    })
    assert.match(refused.html, /<a class="button" href="\/login">/)
    const missing = await render('error', {
      type: '/problems/not_found',
      status: 404,
      title: 'Not found',
      detail,
      canRetry: true,
    })
    assert.match(missing.html, /<title>Error: Page not found/)
    assert.match(missing.html, /<a class="button" href="\/">/)
  })

  test('error and problem pages show text in backticks as code', async () => {
    const text = 'Send `Expect: <x>` or `null`.'
    const shown = 'Send <code>Expect: &lt;x&gt;</code> or <code>null</code>.</p>'
    const error = { type: '/problems/x', status: 417, title: 'Failed', detail: text, canRetry: true }
    const problem = { code: 'x', title: 'Failed', status: 417, explanation: text, advice: text }
    assert.ok((await render('error', error)).html.includes(shown))
    assert.equal((await render('problem', problem)).html.split(shown).length, 3)
  })

  test('the servers of the benchmark render the account page and the sign-in page', () => {
    assert.match(accountPage({ ...ada, id: randomUUID(), passwordChangedAt: 0 }), /<h1>Profile<\/h1>/)
    assert.match(loginPage(), /<h1>Sign in<\/h1>/)
  })

  test('L8 a template gets only the common data and its own data, and not ctx.state', async () => {
    const { html } = await render('home', {}, {}, { state: { user: ada } })
    assert.doesNotMatch(html, /ada@example\.com|>Ada</)
    assert.match(html, /<body [^>]*data-user="visitor"/)
  })
})

async function render<Name extends keyof Views>(
  name: Name,
  data: Views[Name],
  common: Common = {},
  members: object = {},
) {
  const app = new Koa()
  app.context.render = renderView
  app.use((ctx) => {
    Object.assign(ctx, members)
    return page(ctx, name, { ...common, ...data })
  })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const html = await response.text()
  server.close()
  assert.equal(response.status, 200, html)
  return { html, type: response.headers.get('content-type') }
}
