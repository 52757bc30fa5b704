import { subscribe } from 'node:diagnostics_channel'
import type { MikroORM } from '@mikro-orm/core'
import type { Meter } from '@opentelemetry/api'
import { purgeRound } from '../../database/purge.ts'
import { MailQueue } from '../../mail/mail-queue.ts'

/** The parts of the site that the metrics read. */
export interface Sources {
  readonly orm: MikroORM
  /** `waiting` are the events that the database has refused. */
  readonly trail: { readonly waiting: readonly object[] }
}

interface Pooled {
  readonly poolState: Readonly<Record<'used' | 'idle' | 'waiting' | 'timeouts', number>>
}

/** Observes the pool of PostgreSQL, and the rows that wait for the site or for the database. */
export function observeDatabase(meter: Meter, { orm, trail }: Sources): void {
  const connection: object = orm.em.getConnection()
  if ('poolState' in connection) observePool(meter, connection as Pooled)
  observeMails(meter, new MailQueue(orm))
  let backlog = 0
  subscribe(purgeRound.name, (tables) => {
    backlog = tables as number
  })
  meter
    .createObservableGauge('koa_authenticators.purge.backlog', {
      description: 'Tables with more expired rows than the last purge has deleted',
    })
    .addCallback((result) => result.observe(backlog))
  meter
    .createObservableGauge('koa_authenticators.audit.waiting', {
      description: 'Events that are in the log only, because the database has refused them',
    })
    .addCallback((result) => result.observe(trail.waiting.length))
}

function observePool(meter: Meter, connection: Pooled): void {
  const pool = { 'db.client.connection.pool.name': 'site' }
  meter
    .createObservableGauge('db.client.connection.count', { description: 'Connections of the pool' })
    .addCallback((result) => {
      const { used, idle } = connection.poolState
      result.observe(used, { ...pool, 'db.client.connection.state': 'used' })
      result.observe(idle, { ...pool, 'db.client.connection.state': 'idle' })
    })
  meter
    .createObservableGauge('db.client.connection.pending_requests', {
      description: 'Statements that wait for a connection',
    })
    .addCallback((result) => result.observe(connection.poolState.waiting, pool))
  meter
    .createObservableCounter('db.client.connection.timeouts', {
      description: 'Statements that have got no connection in time',
    })
    .addCallback((result) => result.observe(connection.poolState.timeouts, pool))
}

function observeMails(meter: Meter, queue: MailQueue): void {
  const waiting = meter.createObservableGauge('koa_authenticators.mails.waiting', {
    description: 'Mails that wait for the mail server',
  })
  const age = meter.createObservableGauge('koa_authenticators.mails.oldest_age', {
    description: 'Age of the oldest mail that waits',
    unit: 's',
  })
  meter.addBatchObservableCallback(
    async (result) => {
      const mails = await queue.backlog()
      result.observe(waiting, mails.count)
      result.observe(age, mails.age / 1000)
    },
    [waiting, age],
  )
}
