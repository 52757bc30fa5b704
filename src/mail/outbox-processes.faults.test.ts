import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { openDatabase } from '../database/open-database.ts'
import { sql } from '../testing/database.ts'
import { until } from '../testing/faults/until.ts'
import { startMailServer } from '../testing/mail-server.ts'
import { registration } from '../testing/people.ts'
import { databaseFor, startServer, temporaryFolder } from '../testing/server-process.ts'
import { patientSchema } from '../testing/test-database.ts'
import { queueMail } from './mail-queue.ts'

const credentials = { user: 'site', password: 'canary of the mail server' }

/** A mail server, the variables of a site that uses it, and functions for the outbox of this site. */
async function open(t: TestContext) {
  const mailServer = await startMailServer(t, { credentials })
  const DATA_DIR = await temporaryFolder(t)
  const database = await databaseFor(t, { DATA_DIR })
  const orm = await openDatabase(database.DATABASE_URL ?? `sqlite:${DATA_DIR}/site.sqlite`, patientSchema)
  t.after(() => orm.close())
  const variables = {
    ...database,
    SMTP_URL: `smtp://site:${encodeURIComponent(credentials.password)}@127.0.0.1:${mailServer.port}`,
    MAIL_FROM: 'no-reply@site.example',
  }
  let count = 0
  /** Adds mails from another process, as `npm run user` does. */
  const add = async (mails = 1) => {
    for (let i = 0; i < mails; i += 1)
      await queueMail(orm.em.fork(), { kind: 'address-taken', to: `user${++count}@mail.example` })
  }
  return {
    mailServer,
    variables,
    add,
    tries: async () => (await sql({ orm }, 'select tries from mails')).map(({ tries }) => Number(tries)),
    /** Makes all mails due now, so that no mail waits for a retry or for the end of a claim. */
    makeDue: () => sql({ orm }, 'update mails set due_at = 0'),
  }
}

describe('an unavailable mail server', () => {
  test('N13 O2 delays neither the start nor a request, and receives the mails when it is back', async (t) => {
    const { mailServer, variables, add, tries, makeDue } = await open(t)
    await mailServer.stop()
    await add()
    const server = await startServer(t, variables, { isPatient: true })
    await server.says('mails are retried later')
    assert.equal((await server.visitor().get('/readyz')).status, 200)
    assert.equal((await server.visitor().json('/users', registration('Ada'))).status, 201)

    const { mails } = await startMailServer(t, { credentials, port: mailServer.port })
    await makeDue()
    await until('all mails are sent', async () => (await tries()).length === 0)
    assert.deepEqual(recipients({ mails }), ['ada@example.com', 'user1@mail.example'])
    assert.ok(mails.every(({ isEncrypted, user }) => isEncrypted && user === credentials.user))
    const mail = mails.find(({ to }) => to.includes('user1@mail.example'))
    assert.match(mail?.text ?? '', new RegExp(`^If it was you, .*: ${server.url}/login$`, 'm'))
    server.child.kill('SIGTERM')
    const { code, stdout, stderr } = await server.ended
    assert.deepEqual([code, stderr], [0, ''])
    assert.doesNotMatch(stdout, /canary|mail\.example/)
  })

  test('N6 that never responds to a mail does not keep the site from stopping', async (t) => {
    const { mailServer, variables, add, tries } = await open(t)
    mailServer.hooks.onData = () => new Promise(() => {})
    const server = await startServer(t, variables)
    await add()
    await until('the mail is at the server', () => mailServer.attempts.count > 0)
    server.child.kill('SIGTERM')
    assert.equal((await server.ended).code, 0)
    assert.deepEqual(await tries(), [1])
  })
})

describe('a killed site', () => {
  test('N5 loses no mail, neither before nor during an attempt', async (t) => {
    const { mailServer, variables, add, tries, makeDue } = await open(t)
    const { onData } = mailServer.hooks
    mailServer.hooks.onData = () => new Promise(() => {})
    const killed = await startServer(t, variables)
    await add(8)
    await until('mails are at the server', () => mailServer.attempts.count >= 5)
    killed.child.kill('SIGKILL')
    await killed.ended
    assert.deepEqual((await tries()).sort(), [0, 0, 0, 1, 1, 1, 1, 1])

    mailServer.hooks.onData = onData
    await startServer(t, variables)
    await until('the mails without an attempt are sent', async () => (await tries()).length === 5)
    assert.equal(mailServer.mails.length, 3)
    await makeDue()
    await until('all mails are sent', async () => (await tries()).length === 0)
    assert.deepEqual(recipients(mailServer), addresses(8))
  })
})

function recipients({ mails }: Pick<Awaited<ReturnType<typeof startMailServer>>, 'mails'>): string[] {
  return mails.map(({ to }) => to.join()).sort()
}

function addresses(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `user${i + 1}@mail.example`).sort()
}
