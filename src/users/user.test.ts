import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { UniqueConstraintViolationException } from '@mikro-orm/core'
import { describeTable } from '../testing/describe-table.ts'
import { addAdmin, signUp } from '../testing/people.ts'
import { startSite } from '../testing/site.ts'
import { Admin } from './admin.ts'
import { User } from './user.ts'

describe('User', () => {
  test('S26 and Admin have the required columns id, name, email and password_hash, and a column disabled_at', async (t) => {
    const site = await startSite(t)
    for (const table of ['users', 'admins']) {
      const { columns, required, primaryKey } = await describeTable(site, table)
      for (const name of ['id', 'name', 'email', 'password_hash', 'email_key'])
        assert.ok(required.includes(name), name)
      assert.deepEqual(primaryKey, ['id'])
      assert.ok(columns.includes('disabled_at'))
    }
  })

  test('K8 S27 S30 and Admin reject a second account with the same e-mail address in any letter case', async (t) => {
    const site = await startSite(t)
    for (const entity of [User, Admin]) {
      const insert = async (email: string, emailKey: string) => {
        const em = site.orm.em.fork()
        em.create(entity, { name: 'Ada', email, emailKey, passwordHash: 'x' })
        await em.flush()
      }
      await insert('ada@example.com', 'ada@example.com')
      await assert.rejects(insert('ada@example.com', 'other@example.com'), UniqueConstraintViolationException)
      await assert.rejects(insert('Ada@example.com', 'ada@example.com'), UniqueConstraintViolationException)
    }
  })

  test('C6 S25 gets an id on creation, and stores the entered and the lower-case address', async (t) => {
    const site = await startSite(t)
    const { id } = await signUp(site, 'Ada', { email: 'Ada@Example.com' })
    const user = await site.orm.em.fork().findOneOrFail(User, id, { populate: ['emailKey'] })
    assert.deepEqual([user.email, user.emailKey], ['Ada@Example.com', 'ada@example.com'])
    assert.match(id, /^[\da-f]{8}-[\da-f]{4}-7/)
    assert.equal(user.sessionID, id)
  })

  test('B10 has only id, name and email in JSON', async (t) => {
    const site = await startSite(t)
    const { id } = await signUp(site)
    const grace = await addAdmin(site)
    const em = site.orm.em.fork()
    for (const person of [await em.findOneOrFail(User, id), await em.findOneOrFail(Admin, grace.id)])
      assert.deepEqual(Object.keys(JSON.parse(JSON.stringify(person))).sort(), ['email', 'id', 'name'])
  })
})
