import { DriverException, type MikroORM, Utils } from '@mikro-orm/core'
import { Misuse } from '../../errors.ts'
import type { EntityManagers, LookUpOptions, LookUps, RequestLookUps } from '../look-ups.ts'
import { NotPrepared } from './not-prepared.ts'
import { type PreparedQuery, prepareQuery } from './prepared-query.ts'
import { type PreparedQueries, PreparedRequest } from './prepared-request.ts'
import { Reports } from './reports.ts'

/** The versions of MikroORM for which `npm run equivalence` has passed. Any other version uses `em.findOne`. */
const versions = ['7.2.1']

/**
 * Finds entities with prepared statements instead of `em.findOne`: `app.use(databases(orm, { lookUps: prepared() }))`. Uses
 * `em.findOne` for models, options and requests for which the result might differ.
 */
export function prepared(...none: []): LookUps {
  if (none.length > 0) throw new Misuse('Call it without arguments: `prepared()`.')
  return new PreparedLookUps()
}

class PreparedLookUps implements LookUps, PreparedQueries {
  readonly #queries = new WeakMap<MikroORM, WeakMap<LookUpOptions, Promise<PreparedQuery>>>()
  readonly #failed = new WeakSet<LookUpOptions['model']>()
  readonly #reports = new Reports()
  readonly #isKnownVersion: boolean

  constructor() {
    const version = Utils.getORMVersion()
    this.#isKnownVersion = versions.includes(version)
    if (!this.#isKnownVersion) this.#reports.version(version, versions)
  }

  start(request: EntityManagers): RequestLookUps {
    return new PreparedRequest(this, request)
  }

  /** Whether look-ups of the model may be prepared: the version of MikroORM is known, and there was no unexpected error. */
  isAllowed(model: LookUpOptions['model']): boolean {
    return this.#isKnownVersion && !this.#failed.has(model)
  }

  /** Prepares the query at the first call. */
  query(orm: MikroORM, options: LookUpOptions): Promise<PreparedQuery> {
    const queries = this.#queries.get(orm) ?? new WeakMap<LookUpOptions, Promise<PreparedQuery>>()
    this.#queries.set(orm, queries)
    const known = queries.get(options)
    if (known) return known
    const preparing = prepareQuery(orm, options)
    queries.set(options, preparing)
    preparing.then(
      () => this.#reports.prepared(options),
      (error) => isLasting(error) || queries.delete(options),
    )
    return preparing
  }

  /** Calls `findOne` after an error. Reports an unexpected error, unless `em.findOne` fails too. */
  async recover<Found>(
    model: LookUpOptions['model'],
    error: unknown,
    findOne: () => Promise<Found>,
  ): Promise<Found> {
    if (error instanceof DriverException) throw error
    if (error instanceof NotPrepared) this.#reports.notPrepared(model, error)
    const found = await findOne()
    if (error instanceof NotPrepared || this.#failed.has(model)) return found
    this.#failed.add(model)
    this.#reports.error(model, error)
    return found
  }
}

function isLasting(error: unknown): boolean {
  return error instanceof NotPrepared && !error.isPassing
}
