import assert from 'node:assert/strict'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { createLog } from '../log/log.ts'
import { mails as kinds } from '../mails.ts'
import { sql } from '../testing/database.ts'
import { until } from '../testing/faults/until.ts'
import { signUp } from '../testing/people.ts'
import { receiveMails } from '../testing/received-mail.ts'
import { recordSiteStatements } from '../testing/record-site-statements.ts'
import { type Site, startSite } from '../testing/site.ts'
import type { CreateLink } from './mail-kinds.ts'
import { type NewMail, queueMail } from './mail-queue.ts'
import { MailTemplates } from './mail-templates.ts'
import { type Deliver, DeliveryError, type Message } from './message.ts'
import { Outbox } from './outbox.ts'

const origin = 'https://site.example'
const minute = 60_000
const hour = 60 * minute
const notice: NewMail = {
  kind: 'notice',
  to: 'ada@example.com',
  data: {
    subject: 'New sign-in to your account',
    text: 'There was a sign-in to your account from a new device.',
    name: 'Ada',
    at: '2026-11-25T18:18:00.000Z',
    device: 'Firefox on Linux',
    network: '203.0.113.7',
  },
}

/** An outbox on the database of a site, with a clock, a log and delivered mails. By default, the background task never polls. */
async function open(
  t: TestContext,
  {
    deliver = async () => ({}),
    pollInterval = 2 ** 31 - 1,
  }: { deliver?: Deliver; pollInterval?: number } = {},
) {
  const site = await startSite(t)
  const clock = { now: Date.now() }
  const lines: string[] = []
  const another = (now = () => clock.now) => {
    const mails: Message[] = []
    const links: { reset?: CreateLink; verify?: CreateLink } = {}
    const sink = { write: (line: string) => void lines.push(line) }
    const outbox = new Outbox(site.orm, {
      kinds: {
        ...kinds,
        reset: { ...kinds.reset, createLink: async (...mail) => links.reset?.(...mail) },
        verify: { ...kinds.verify, createLink: async (...mail) => links.verify?.(...mail) },
      },
      deliver: async (message, signal) => {
        const delivered = await deliver(message, signal)
        mails.push(message)
        return delivered
      },
      templates: new MailTemplates({ siteName: 'Ada’s site', supportUrl: undefined, brandColor: undefined }),
      log: createLog('info', sink),
      now,
      pollInterval,
    })
    return { outbox, mails, links }
  }
  const add = (mail: NewMail = notice) =>
    site.orm.em.fork().transactional((em) => queueMail(em, mail, clock.now))
  const log = () => lines.map((line) => JSON.parse(line))
  return { site, clock, add, log, another, ...another() }
}

function rows(site: Site) {
  return sql(site, 'select * from mails order by id')
}

/** Creates an account, and deletes the mail of the sign-up. */
async function signUpWithoutMail(site: Site) {
  const person = await signUp(site)
  await sql(site, 'delete from mails')
  return person
}

/** Deliveries that fail with these errors, then succeed. */
function failing(...errors: Error[]): Deliver {
  return async () => {
    const error = errors.shift()
    if (error) throw error
    return {}
  }
}

describe('Outbox', () => {
  test('sends a mail after the commit of its transaction, and deletes the row', async (t) => {
    const { site, outbox, mails, log } = await open(t)
    await site.orm.em.fork().transactional(async (em) => {
      await outbox.add(em, notice)
      if (site.config.databaseUrl.startsWith('postgres')) assert.equal(await outbox.sendDue(origin), 0)
    })
    assert.equal(await outbox.sendDue(origin), 1)
    const [mail = assert.fail(), ...others] = mails
    assert.deepEqual([others, mail.to, mail.kind], [[], 'ada@example.com', 'notice'])
    assert.equal(mail.subject, 'New sign-in to your account at Ada’s site')
    assert.deepEqual(await rows(site), [])
    const [{ mail: id, kind, tries, msg }] = log() as [Record<string, unknown>]
    assert.deepEqual([kind, tries, msg], ['notice', 1, 'mail sent'])
    assert.equal(mail.id, `${id}.1`)
  })

  test('sends nothing if the transaction is rolled back', async (t) => {
    const { site, outbox, mails } = await open(t)
    const work = site.orm.em.fork().transactional(async (em) => {
      await outbox.add(em, notice)
      throw new Error('rolled back')
    })
    await assert.rejects(work, { message: 'rolled back' })
    assert.equal(await outbox.sendDue(origin), 0)
    assert.deepEqual([mails, await rows(site)], [[], []])
  })

  test('sends mails that are added while it runs', async (t) => {
    const { site, outbox, mails } = await open(t, { pollInterval: 10 })
    outbox.start(origin)
    t.after(() => outbox.stop())
    for (let count = 2; count <= 6; count += 2) {
      await site.orm.em.fork().transactional((em) => outbox.add(em, notice))
      await outbox.add(site.orm.em.fork(), notice)
      await until('both mails are sent', () => mails.length === count)
    }
  })

  test('creates a link when it sends the mail, so that no row contains a token', async (t) => {
    const { site, outbox, mails, add, log, links } = await open(t)
    const { id, email } = await signUpWithoutMail(site)
    await add({ kind: 'reset', to: email, userId: id })
    const calls: object[] = []
    const seen: string[] = []
    links.reset = async (mail, { em, origin }) => {
      calls.push(mail)
      assert.ok(em !== site.orm.em)
      seen.push(JSON.stringify(await rows(site)))
      return { url: `${origin}/reset?token=canary`, lifetime: hour }
    }
    assert.equal(await outbox.sendDue(origin), 1)
    assert.deepEqual(calls, [{ address: email, userId: id }])
    const [{ text, html } = assert.fail()] = mails
    assert.match(text, /^https:\/\/site\.example\/reset\?token=canary$/m)
    assert.match(text, /works once, for one hour\./)
    assert.match(html, / href="https:\/\/site\.example\/reset\?token=canary"/)
    assert.doesNotMatch(seen.join() + JSON.stringify(log()), /canary/)
  })

  test('drops a mail whose link is no longer needed', async (t) => {
    const { site, outbox, mails, add, log, links } = await open(t)
    links.reset = async () => undefined
    await add({ kind: 'reset', to: 'ada@example.com' })
    assert.equal(await outbox.sendDue(origin), 1)
    assert.deepEqual([mails, await rows(site)], [[], []])
    assert.deepEqual(
      log().map(({ msg }) => msg),
      ['mail no longer needed'],
    )
  })

  test('deletes the waiting mails of a deleted account', async (t) => {
    const { site, add } = await open(t)
    const { id } = await signUpWithoutMail(site)
    await add({ ...notice, userId: id })
    await add()
    await sql(site, 'delete from users where id = ?', [id])
    assert.deepEqual(
      (await rows(site)).map(({ user_id }) => user_id),
      [null],
    )
  })
})

describe('a mail that is not delivered', () => {
  test('is tried 8 times within a day, then given up with one line in the log', async (t) => {
    const { site, clock, outbox, add, log } = await open(t, {
      deliver: async () => {
        throw new DeliveryError('ECONNECTION', { responseCode: 421 })
      },
    })
    const { id } = await signUpWithoutMail(site)
    const start = clock.now
    await add({ ...notice, userId: id })
    for (const _ of Array(8)) {
      clock.now = Number((await rows(site))[0]?.due_at)
      assert.equal(await outbox.sendDue(origin), 1)
    }
    assert.deepEqual(await rows(site), [])
    assert.ok(clock.now - start > 20 * hour && clock.now - start < 24 * hour)
    const lines = log().map(({ time, level, ...rest }) => rest)
    const retried = { mails: 1, code: 'ECONNECTION', responseCode: 421, msg: 'mails are retried later' }
    assert.deepEqual(
      lines.slice(0, 6),
      Array.from({ length: 6 }, () => retried),
    )
    const [{ mail, ...last } = assert.fail(), ...others] = lines.slice(6)
    assert.deepEqual(
      [last, others],
      [
        { kind: 'notice', user: id, tries: 8, code: 'ECONNECTION', responseCode: 421, msg: 'mail given up' },
        [],
      ],
    )
    assert.match(String(mail), /^[\da-f-]{36}$/)
  })

  test('N9 adds one line a minute to the log, even if many mails wait', async (t) => {
    const { clock, outbox, add, log } = await open(t, {
      deliver: async () => {
        throw new DeliveryError('ESOCKET')
      },
    })
    for (let i = 0; i < 12; i += 1) await add()
    while ((await outbox.sendDue(origin)) > 0);
    assert.equal(log().length, 1)
    clock.now += minute
    while ((await outbox.sendDue(origin)) > 0);
    assert.equal(log().length, 2)
  })

  test('is given up immediately after a permanent failure', async (t) => {
    const error = new DeliveryError('EENVELOPE', { responseCode: 550, isFinal: true })
    const { outbox, add, log, site } = await open(t, { deliver: failing(error) })
    await add()
    assert.equal(await outbox.sendDue(origin), 1)
    assert.deepEqual(await rows(site), [])
    assert.deepEqual(
      log().map(({ msg, responseCode }) => [msg, responseCode]),
      [['mail given up', 550]],
    )
    assert.doesNotMatch(JSON.stringify(log()), /example\.com|Ada"/)
  })

  test('is retried if its link cannot be created', async (t) => {
    const { outbox, add, log, mails, clock, links } = await open(t)
    let isBroken = true
    links.verify = async () => {
      if (isBroken) throw new Error('broken')
      return { url: `${origin}/verify?token=x`, lifetime: 72 * hour }
    }
    await add({ kind: 'verify', to: 'ada@example.com' })
    await add()
    await outbox.sendDue(origin)
    assert.deepEqual(
      mails.map(({ kind }) => kind),
      ['notice'],
    )
    isBroken = false
    clock.now += minute
    await outbox.sendDue(origin)
    assert.match(mails[1]?.text ?? '', /works once, for 3 days\./)
    assert.deepEqual(
      log().map(({ msg }) => msg),
      ['mail sent', 'mails are retried later', 'mail sent'],
    )
  })
})

describe('a queued mail', () => {
  test('is not tried again after the last attempt, even if its process died', async (t) => {
    const { site, outbox, add, mails, log } = await open(t)
    await add()
    await sql(site, 'update mails set tries = 8')
    assert.equal(await outbox.sendDue(origin), 1)
    assert.deepEqual([mails, await rows(site)], [[], []])
    assert.equal(log()[0].code, 'ETRIES')
  })

  test('is not sent again if it was delivered and only the delete of its row failed', async (t) => {
    const { site, outbox, add, mails } = await open(t, {
      deliver: async () => {
        await sql(site, 'alter table mails rename to mails_hidden')
        return {}
      },
    })
    await add()
    assert.equal(await outbox.sendDue(origin), 1)
    await assert.rejects(outbox.sendDue(origin))
    await sql(site, 'alter table mails_hidden rename to mails')
    await sql(site, 'update mails set due_at = 0')
    assert.equal(await outbox.sendDue(origin), 0)
    assert.deepEqual([mails.length, await rows(site)], [1, []])
  })

  test('is sent even if a wrong clock has scheduled it for next year', async (t) => {
    const { clock, outbox, add, mails } = await open(t)
    clock.now += 400 * 24 * hour
    await add()
    clock.now -= 400 * 24 * hour
    assert.equal(await outbox.sendDue(origin), 1)
    assert.equal(mails.length, 1)
  })
})

describe('several outboxes', () => {
  test('M6 send each mail once', async (t) => {
    const { outbox, add, mails, another } = await open(t)
    const all = [{ outbox, mails }, another(), another(), another()]
    for (let i = 0; i < 40; i += 1) await add({ ...notice, to: `user${i}@example.com` })
    const drain = async ({ outbox }: { outbox: Outbox }) => {
      let empty = 0
      while (empty < 3) empty = (await outbox.sendDue(origin)) === 0 ? empty + 1 : 0
    }
    await Promise.all(all.map(drain))
    const sent = all.flatMap(({ mails }) => mails.map(({ to }) => to))
    assert.equal(sent.length, 40)
    assert.equal(new Set(sent).size, 40)
  })

  test('M6 send the mail that a stalled process had claimed, after the claim ends, even if the clocks differ', async (t) => {
    const { promise: stalled, resolve: resume } = Promise.withResolvers<object>()
    const deliveries: Deliver[] = [() => stalled, async () => ({})]
    const { clock, outbox, mails, add, another } = await open(t, {
      deliver: (message, signal) => (deliveries.shift() ?? assert.fail())(message, signal),
    })
    await add()
    const first = outbox.sendDue(origin)
    await until('the first process claims the mail', () => deliveries.length === 1)
    const ahead = another(() => clock.now + 2 * minute)
    clock.now += minute
    assert.equal(await ahead.outbox.sendDue(origin), 0)
    clock.now += 2 * minute
    assert.equal(await ahead.outbox.sendDue(origin), 1)
    resume({})
    await first
    assert.deepEqual([mails.length, ahead.mails.length], [1, 1])
  })

  test('M6 keep the claim of a process when an earlier attempt of another one fails', async (t) => {
    const { clock, site, outbox, add, another, links } = await open(t)
    const other = another()
    const [claimed, stalled] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()]
    other.links.reset = () => {
      claimed.resolve()
      return stalled.promise
    }
    const attempt: { end?: Promise<number>; rows?: unknown } = {}
    links.reset = async () => {
      clock.now += 10 * minute
      attempt.end = other.outbox.sendDue(origin)
      await claimed.promise
      attempt.rows = await rows(site)
      throw new Error('late')
    }
    await add({ kind: 'reset', to: 'ada@example.com' })
    await outbox.sendDue(origin)
    assert.deepEqual(await rows(site), attempt.rows)
    stalled.resolve(undefined)
    await attempt.end
  })

  test('do not send a mail twice if a process was suspended before the delivery for longer than its claim', async (t) => {
    const { clock, outbox, mails, add, another, links } = await open(t)
    const other = another()
    links.reset = async () => {
      clock.now += 10 * minute
      other.links.reset = async () => ({ url: origin, lifetime: hour })
      assert.equal(await other.outbox.sendDue(origin), 1)
      return { url: origin, lifetime: hour }
    }
    await add({ kind: 'reset', to: 'ada@example.com' })
    assert.equal(await outbox.sendDue(origin), 1)
    assert.deepEqual([mails.length, other.mails.length], [0, 1])
  })
})

describe('stop', () => {
  test('waits for current attempts, and sends no further mail', async (t) => {
    const { promise: accepted, resolve: accept } = Promise.withResolvers<object>()
    const { outbox, mails, add, site } = await open(t, { deliver: () => accepted })
    for (let i = 0; i < 7; i += 1) await add()
    outbox.start(origin)
    await until('five mails are claimed', async () => (await rows(site)).some(({ tries }) => tries === 1))
    const stopped = outbox.stop()
    accept({})
    await stopped
    assert.deepEqual([mails.length, (await rows(site)).length], [5, 2])
  })
})

describe('a site without a mail server', () => {
  test('writes each mail to a file in DATA_DIR/mail, and the path of the file to the log', async (t) => {
    const site = await startSite(t)
    const outbox = site.outbox ?? assert.fail()
    const { email } = await signUpWithoutMail(site)
    await outbox.add(site.orm.em.fork(), { kind: 'reset', to: email })
    assert.equal(await outbox.sendDue(origin), 1)
    const folder = join(site.config.dataDir, 'mail')
    const [name = '', ...others] = await readdir(folder)
    assert.deepEqual(others, [])
    assert.match(name, /^[\da-f-]{36}\.1-reset\.eml$/)
    assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600)
    assert.equal((await stat(folder)).mode & 0o777, 0o700)
    const [{ headers, text } = assert.fail()] = await receiveMails(site)
    assert.equal(headers.to, email)
    const [, token = assert.fail()] = /^https:\/\/site\.example\/reset\?token=(.{43})$/m.exec(text) ?? []
    assert.deepEqual(await receiveMails(site), [])
    const line = site.log.find((each) => each.includes('mail sent')) ?? assert.fail()
    assert.equal(JSON.parse(line).file, join(folder, name))
    assert.ok(!site.log.join().includes(token))
  })

  test('puts the link into the log in development', async (t) => {
    const site = await startSite(t, { NODE_ENV: 'development' })
    const outbox = site.outbox ?? assert.fail()
    const { email } = await signUpWithoutMail(site)
    await outbox.add(site.orm.em.fork(), { kind: 'reset', to: email })
    await outbox.add(site.orm.em.fork(), notice)
    assert.equal(await outbox.sendDue(origin), 2)
    const sent = site.log.filter((line) => line.includes('mail sent')).map((line) => JSON.parse(line))
    assert.deepEqual(
      sent.filter(({ link }) => link?.startsWith(`${origin}/reset?token=`)).map(({ kind }) => kind),
      ['reset'],
    )
  })

  test('P13 is full at a limit of waiting mails, which it finds without counting them all', async (t) => {
    const { site, add, outbox, log } = await open(t)
    const statements = await recordSiteStatements(t, site)
    await add()
    assert.equal(await outbox.isFull(2), false)
    await add()
    statements()
    assert.equal(await outbox.isFull(2), true)
    assert.doesNotMatch(statements().join(), /count/)
    assert.deepEqual(
      log().map(({ msg, mails }) => [msg, mails]),
      [['the outbox is full: no link is mailed', 2]],
    )
  })
})
