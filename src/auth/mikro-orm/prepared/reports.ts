import { debuglog } from 'node:util'
import type { Class } from '../../checks.ts'
import { describeError, isProduction } from '../../errors.ts'
import type { LookUpOptions } from '../look-ups.ts'
import type { NotPrepared } from './not-prepared.ts'

const code = 'KOA_AUTH_NOT_PREPARED'
const debug = debuglog('koa-authenticators')

/** Reports which look-ups are prepared, and why others are not. `NODE_DEBUG=koa-authenticators` shows each of them. */
export class Reports {
  readonly #warned = new WeakSet<Class>()

  prepared({ model, property }: LookUpOptions): void {
    debug('look-ups of %s by %s use a prepared statement', model.name, property)
  }

  /** Warns once for each model in development. */
  notPrepared(model: Class, { message, isPassing }: NotPrepared): void {
    debug('a look-up of %s uses em.findOne, because %s', model.name, message)
    if (isPassing || isProduction() || this.#warned.has(model)) return
    this.#warned.add(model)
    const sentence = `Look-ups of ${model.name} use \`em.findOne\`, which is slower, because ${message}.`
    process.emitWarning(sentence, { code })
  }

  /** Warns of an error that `em.findOne` does not have. */
  error(model: Class, error: unknown): void {
    const cause = error instanceof Error ? describeError(error) : typeof error
    const sentence = `From now on, look-ups of ${model.name} use \`em.findOne\`, because \`prepared()\` failed with ${cause}`
    process.emitWarning(sentence, { code })
  }

  version(version: string, known: readonly string[]): void {
    const sentence = `Look-ups use \`em.findOne\`, because \`prepared()\` does not know MikroORM ${version}, only ${known.join(', ')}.`
    process.emitWarning(sentence, { code })
  }
}
