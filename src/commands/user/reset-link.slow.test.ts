import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dump, sql } from '../../testing/database.ts'
import { addAdmin, signUp } from '../../testing/people.ts'
import { assertRefused } from '../../testing/run-command.ts'
import { loginStatus, signInWithEachCredential, startWithUserCommand } from '../../testing/user-command.ts'

const another = 'correct horse battery'
const PUBLIC_URL = 'https://auth.example'

/** The path of the link in the output. */
function pathIn(out: string, origin = PUBLIC_URL): string {
  const link = out.split('\n', 1)[0] ?? ''
  assert.match(link, /^\S+\/reset\?token=[\w-]{43}$/)
  assert.ok(link.startsWith(`${origin}/reset`), link)
  return link.slice(origin.length)
}

describe('reset-link', () => {
  test('C5 Q4 prints a link whose use changes the password, ends sessions and tokens, and does not verify the address', async (t) => {
    const { site, user } = await startWithUserCommand(t)
    const ada = await signUp(site)
    const statuses = await signInWithEachCredential(site, ada)
    const { code, out, errors } = await user('reset-link ada@example.com', '', { PUBLIC_URL })
    const path = pathIn(out)
    assert.deepEqual([code, errors], [0, ''])
    assert.match(out, /\nSend this link to ada@example\.com\. It sets a new password once, within one hour\./)
    assert.equal(await loginStatus(site, ada), 200)
    assert.deepEqual(await statuses(), [200, 200, 200])

    const token = new URL(path, PUBLIC_URL).searchParams.get('token') ?? ''
    site.secrets.add(token)
    assert.equal((await site.visitor().page(path)).status, 200)
    const fields = { token, password: another, confirmPassword: another }
    assert.equal((await site.visitor().form('/reset', fields)).status, 303)
    assert.deepEqual([await loginStatus(site, ada), await loginStatus(site, ada, another)], [401, 200])
    assert.deepEqual(await statuses(), [401, 401, 401])
    assert.equal((await site.visitor().page(path)).status, 410)
    assert.deepEqual(await sql(site, 'select email_verified_at from users'), [{ email_verified_at: null }])
  })

  test('prints a link to PUBLIC_URL, or to the local server in development', async (t) => {
    const { site, user } = await startWithUserCommand(t)
    await signUp(site)
    pathIn((await user('reset-link ada@example.com')).out, 'http://localhost:3000')
    pathIn((await user('reset-link ada@example.com', '', { PORT: '8080' })).out, 'http://localhost:8080')
    const production = { NODE_ENV: 'production', BCRYPT_COST: '12' }
    const before = await dump(site)
    assertRefused(
      await user('reset-link ada@example.com', '', production),
      /^PUBLIC_URL must be set in production to an origin .*\n$/,
    )
    assert.deepEqual(await dump(site), before)
    pathIn((await user('reset-link ada@example.com', '', { ...production, PUBLIC_URL })).out)
  })

  test('rejects an unknown account, a disabled account and an admin', async (t) => {
    const { site, user } = await startWithUserCommand(t)
    await signUp(site)
    await addAdmin(site)
    await user('disable ada@example.com')
    assertRefused(
      await user('reset-link ada@example.com'),
      /^The user ada@example\.com is disabled, so a link would not work\. .*enable ada@example\.com\n$/,
    )
    for (const email of ['bob@example.com', 'ADA@example.com', 'grace@example.com'])
      assertRefused(await user(`reset-link ${email}`), /^There is no user .*\n$/)
    const { code, errors } = await user('reset-link grace@example.com --admin')
    assert.equal(code, 2)
    assert.match(errors, /^Unknown option '--admin'\.\nHelp: /)
  })
})
