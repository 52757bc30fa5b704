import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, test } from 'node:test'
import { createLog } from '../log/log.ts'
import { recordSiteStatements } from '../testing/record-site-statements.ts'
import { startSite } from '../testing/site.ts'
import { Mail, MailQueue, queueMail } from './mail-queue.ts'
import { OutboxLimit } from './outbox-limit.ts'

describe('OutboxLimit', () => {
  test('is full at the limit, asks the database once in ten seconds without a count, and logs one line', async (t) => {
    const site = await startSite(t)
    let now = 0
    const lines: string[] = []
    const sink = new Writable({
      write(line, _encoding, done) {
        lines.push(String(line))
        done()
      },
    })
    const limit = { maxMails: 2, log: createLog('info', sink), now: () => now }
    const outbox = new OutboxLimit(new MailQueue(site.orm), limit)
    const statements = await recordSiteStatements(t, site)
    const isFullNow = () => {
      now += 10_000
      return outbox.isFull()
    }
    await queueMail(site.orm.em.fork(), { kind: 'reset', to: 'ada@example.com' })
    assert.equal(await isFullNow(), false)
    await queueMail(site.orm.em.fork(), { kind: 'reset', to: 'bob@example.com' })
    statements()
    assert.equal(await isFullNow(), true)
    for (let i = 0; i < 5; i += 1) assert.equal(await outbox.isFull(), true)
    const [statement = '', ...others] = statements()
    assert.deepEqual(others, [])
    assert.doesNotMatch(statement, /count/)
    assert.equal(await isFullNow(), true)
    assert.equal(lines.length, 1)

    await site.orm.em.fork().nativeDelete(Mail, {})
    assert.equal(await isFullNow(), false)
  })
})
