import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { v7 as uuidv7 } from 'uuid'
import { Event } from '../../account/activity/event.ts'
import { signIn, signUp } from '../../testing/people.ts'
import { startWithUserCommand } from '../../testing/user-command.ts'

describe('events', () => {
  test('prints the events of an account as JSON lines, or of all accounts since a time', async (t) => {
    const { site, user } = await startWithUserCommand(t)
    const ada = await signUp(site, 'Ada')
    await signUp(site, 'Bob')
    await signIn(site, ada)

    const { out } = await user('events ada@example.com --json')
    const own = out
      .trimEnd()
      .split('\n')
      .map((each) => JSON.parse(each))
    assert.deepEqual(
      own.map((each) => [each.event, each.outcome, each.user, each.email, each.address]),
      [
        ['signed up', 'success', ada.id, 'ada@example.com', '127.0.0.1'],
        ['signed in', 'success', ada.id, 'ada@example.com', '127.0.0.1'],
      ],
    )
    for (const since of [new Date(Date.now() - 3_600_000).toISOString(), '5m', '2h', '7d']) {
      const all = await user(`events --since ${since}`)
      assert.equal(all.out.trimEnd().split('\n').length, 3)
      assert.match(all.out, /Z {2}signed in {2}127\.0\.0\.1 {2}ada@example\.com\n$/)
    }
    const later = await user(`events --since ${new Date(Date.now() + 3_600_000).toISOString()} --json`)
    assert.equal(later.out, '')
    assert.match((await user('events --since yesterday')).errors, /^--since must be a time such as/)
  })

  test('prints each event of several pages once, even if they have the same time', async (t) => {
    const { user, em } = await startWithUserCommand(t)
    const at = new Date()
    const row = (): Partial<Event> => ({
      ...{ id: uuidv7(), at, event: 'signed in', address: '127.0.0.1', userAgent: '', request: '', times: 1 },
    })
    await em().insertMany(Event, Array.from({ length: 2_100 }, row) as Event[])
    const lines = (await user('events --json')).out.trimEnd().split('\n')
    assert.equal(new Set(lines.map((each) => JSON.parse(each).id)).size, 2_100)
    assert.equal(lines.length, 2_100)
  })
})

describe('end-all', () => {
  test('ends the sessions and tokens of all users, after a confirmation', async (t) => {
    const { site, user } = await startWithUserCommand(t)
    const visitors = []
    for (const name of ['Ada', 'Bob']) visitors.push(await signIn(site, await signUp(site, name)))
    assert.match(
      (await user('end-all')).errors,
      /^end-all signs out all users and ends all tokens\. Add --yes\./,
    )
    assert.equal((await visitors[0]?.get('/me'))?.status, 200)
    assert.equal((await user('end-all --yes')).out, 'Ended 2 sessions and 0 tokens of all users.\n')
    for (const each of visitors) assert.equal((await each.get('/me')).status, 401)
  })
})
