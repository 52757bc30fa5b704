import { ageSessions, turnOnApp } from './authenticator-app.ts'
import { addPasskey } from './forms.ts'
import { expectNoOverlaps } from './overlaps.ts'
import { expect, test } from './site.ts'
import { addAuthenticator } from './virtual-authenticator.ts'

test.use({ host: 'localhost' })

const pages = [
  '/account',
  '/account/security',
  '/account/security/totp',
  '/account/sessions',
  '/account/activity',
  '/account/password',
  '/account/email',
  '/account/close',
  '/confirm',
]

test('no two controls of an account page overlap, at any width, with a fresh and with an old session', async ({
  page,
  server,
  account,
}) => {
  const authenticator = await addAuthenticator(page)
  await account.signIn(page)
  await expectNoOverlaps(page, '/account/security/totp')
  const { app } = await turnOnApp(page, account)
  const elsewhere = { username: account.email, password: account.password, code: app.nextCode() }
  await addPasskey(page, authenticator, 'N'.repeat(100))
  const { status } = await fetch(`${server.url}/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(elsewhere),
  })
  expect(status).toBe(200)
  for (const path of pages) await expectNoOverlaps(page, path)
  ageSessions(server)
  for (const path of pages) await expectNoOverlaps(page, path)
})
