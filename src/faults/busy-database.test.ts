import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { quiet } from '../testing/quiet.ts'
import { startServer, temporaryFolder } from '../testing/server-process.ts'
import { assertAnswers, doors, isAway, isFine } from './doors.ts'

/** A server with somebody who may do everything, and another process that can lock its database. */
async function scene(t: TestContext) {
  const folder = await temporaryFolder(t)
  const server = await startServer(t, { DATA_DIR: folder })
  const everybody = await doors(server)
  const other = new Database(join(folder, 'site.sqlite'), { timeout: 0 })
  t.after(async () => void other.close())
  const lock = async () => {
    // A statement of the server's own may be in the way for a moment.
    for (;;) {
      try {
        return other.exec('begin exclusive')
      } catch {
        await new Promise(setImmediate)
      }
    }
  }
  return { server, other, lock, ...everybody }
}

/** How many seconds it takes. */
async function seconds(work: Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work
  return (performance.now() - start) / 1000
}

describe('a database that another process keeps locked', { concurrency: true }, () => {
  test('is read all the same, answers every write with 503 within three seconds, and is well when it is let go', async (t) => {
    const { server, other, lock, open, reading, writing, ada, leaver } = await scene(t)
    // So long ago that it is time to write down that they are still used.
    other.exec('update sessions set seen_at = seen_at - 600000; update user_tokens set last_used_at = null')
    await lock()
    const [reads, writes] = await Promise.all([
      seconds(assertAnswers(isFine, open, reading)),
      seconds(assertAnswers(isAway, writing)),
    ])
    assert.ok(reads < quiet(1.5), `reads waited for ${reads} s`)
    assert.ok(writes < quiet(3), `writes waited for ${writes} s`)
    assert.equal(
      (await leaver.get('/me')).status,
      200,
      'nobody was told that the session had ended, and it has not',
    )

    other.exec('rollback')
    const recovery = await seconds(assertAnswers(isFine, open, reading, writing))
    assert.ok(recovery < quiet(5), `${recovery} s`)
    assert.equal((await leaver.get('/me')).status, 401)
    assert.equal((await ada.get('/me')).status, 200)
    assert.equal(server.child.exitCode, null)
  })

  test('keeps nobody waiting but who writes, however many do, and what they sent succeeds if it is let go in time', async (t) => {
    const { server, other, lock, open, reading, writing, person } = await scene(t)
    await lock()
    const guess = () => server.visitor().json('/login', { username: person.email, password: 'wrong' })
    const guesses = Array.from({ length: 60 }, guess)
    const reads = await seconds(assertAnswers(isFine, open, reading))
    assert.ok(reads < quiet(1.5), `reads waited for ${reads} s`)
    for (const { status } of await Promise.all(guesses)) assert.equal(status, 503)

    const waiting = assertAnswers(isFine, writing)
    for (let round = 0; round < 3; round += 1) await assertAnswers(isFine, open)
    other.exec('rollback')
    await waiting
  })
})
