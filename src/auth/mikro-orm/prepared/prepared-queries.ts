import { debuglog } from 'node:util'
import { DriverException, type MikroORM } from '@mikro-orm/core'
import type { Class } from '../../checks.ts'
import { describeError } from '../../errors.ts'
import type { LookUpOptions } from '../look-ups.ts'
import { NotPrepared } from './not-prepared.ts'
import { type PreparedQuery, prepareQuery } from './prepared-query.ts'

const debug = debuglog('koa-authenticators')

/** The prepared queries of an application. */
export class PreparedQueries {
  readonly #queries = new WeakMap<MikroORM, WeakMap<LookUpOptions, Promise<PreparedQuery>>>()
  readonly #warned = new WeakSet<Class>()

  /** Prepares the query at the first call. Rejects with `NotPrepared` if `em.findOne` must be used. */
  query(orm: MikroORM, options: LookUpOptions): Promise<PreparedQuery> {
    const queries = this.#queries.get(orm) ?? new WeakMap<LookUpOptions, Promise<PreparedQuery>>()
    this.#queries.set(orm, queries)
    const known = queries.get(options)
    if (known) return known
    const preparing = prepareQuery(orm, options)
    queries.set(options, preparing)
    preparing.then(
      () => debug('look-ups of %s by %s use a prepared statement', options.model.name, options.property),
      (error) => isPassing(error) && queries.delete(options),
    )
    return preparing
  }

  /** Calls `findOne` after an error of a query, unless the error is MikroORM's. Warns once for each model. */
  async recover<Found>(model: Class, error: unknown, findOne: () => Promise<Found>): Promise<Found> {
    if (error instanceof DriverException) throw error
    const found = await findOne()
    const isExpected = error instanceof NotPrepared
    const reason = isExpected ? error.message : `\`prepared()\` failed with ${describeError(error as Error)}`
    debug('a look-up of %s uses em.findOne, because %s', model.name, reason)
    if (isPassing(error) || this.#warned.has(model)) return found
    this.#warned.add(model)
    const sentence = `Look-ups of ${model.name} use \`em.findOne\`, which is slower, because ${reason}.`
    process.emitWarning(sentence, { code: 'KOA_AUTH_NOT_PREPARED' })
    return found
  }
}

/** Whether an error concerns only some requests. */
function isPassing(error: unknown): boolean {
  return error instanceof NotPrepared ? error.isPassing : error instanceof DriverException
}
