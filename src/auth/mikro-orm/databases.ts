import {
  type EntityClass,
  type EntityManager,
  type EntityMetadata,
  EntitySchema,
  type MikroORM,
} from '@mikro-orm/core'
import type { ExtendableContext, Next } from 'koa'
import type { Class } from '../checks.ts'
import { Misuse } from '../errors.ts'
import type { RequestLookUps } from './look-ups.ts'

/** The databases of an application by name. `default` is used if no name is given. */
export type Databases = { readonly default: MikroORM } & { readonly [name: string]: MikroORM }

/** A faster way to find entities than `em.findOne`, such as `prepared()` of `koa-authenticators/mikro-orm/prepared`. */
export interface LookUps {
  /** Called for each request. */
  start(request: RequestDatabases): RequestLookUps
}

/** The options of `databases`. */
export interface DatabasesOptions {
  /** How users, tokens and sessions are found: `prepared()` of `koa-authenticators/mikro-orm/prepared`, or by default `em.findOne`. */
  readonly lookUps?: LookUps
  /** Where the authenticators of token models note that a token was used: a `LastUses` for each model. */
  readonly lastUses?: readonly { readonly model: Class; note(entity: object): void }[]
  /**
   * Whether users, tokens and sessions may be read from a replica. By default they are read from the primary, because a replica
   * may still have a session or a token that has just ended.
   */
  readonly preferReadReplicas?: boolean
}

// A symbol property of the context, because the entries of a `WeakMap` slow down garbage collection.
const mounted = Symbol('databases')
type Mounted = { [mounted]?: RequestDatabases }

/** Adds the databases to each request. An entity manager is forked at the first call of `entityManager(ctx)`. */
export function databases(
  orm: MikroORM | Databases,
  options: DatabasesOptions = {},
): (ctx: ExtendableContext, next: Next) => Promise<unknown> {
  const orms = (isORM(orm) ? { default: orm } : orm) as Databases | undefined
  if (!isORM(orms?.default) || !Object.values(orms).every(isORM))
    throw new Misuse('Pass a MikroORM: `app.use(databases(await MikroORM.init(options)))`.')
  if (options.lookUps && typeof options.lookUps.start !== 'function')
    throw new Misuse('Call `prepared()`: `app.use(databases(orm, { lookUps: prepared() }))`.')
  if (options.lookUps && options.preferReadReplicas)
    throw new Misuse(
      'Remove `preferReadReplicas` or `lookUps` from `databases()`: `prepared()` reads from the primary.',
    )
  return (ctx, next) => {
    ;(ctx as Mounted)[mounted] = new RequestDatabases(orms, options)
    return next()
  }
}

function isORM(value: unknown): value is MikroORM {
  return typeof value === 'object' && value !== null && 'em' in value && 'schema' in value
}

/** The request's entity manager, which manages the logged-in entities. `database` is a name in `databases()`. */
export function entityManager(ctx: object, database?: string): EntityManager {
  return databasesOf(ctx).manager(database)
}

/** The databases of a request. Throws `Misuse` if `databases(orm)` is missing. */
export function databasesOf(ctx: object): RequestDatabases {
  const found = (ctx as Mounted)[mounted]
  if (!found)
    throw new Misuse('Add `app.use(databases(orm))` before the first authenticator of a persisted model.')
  return found
}

/** The databases and entity managers of one request. */
export class RequestDatabases {
  readonly #orms: Databases
  readonly #options: DatabasesOptions
  // Created when needed, because the page of a visitor needs no entity manager.
  #managers: Map<string, EntityManager> | undefined
  #lookUps: RequestLookUps | undefined

  constructor(orms: Databases, options: DatabasesOptions) {
    this.#orms = orms
    this.#options = options
  }

  /** The connection for users, tokens and sessions: the primary, or with `undefined` that of MikroORM's configuration. */
  get connectionType(): 'write' | undefined {
    return this.#options.preferReadReplicas ? undefined : 'write'
  }

  /** The database of that name. Throws `Misuse` if there is none. */
  orm(name = 'default'): MikroORM {
    const orm = name === 'default' || Object.hasOwn(this.#orms, name) ? this.#orms[name] : undefined
    if (!orm)
      throw new Misuse(`There is no database "${name}": add it to \`app.use(databases({ ${name}: orm }))\`.`)
    return orm
  }

  /** The look-ups of this request, from its first look-up on. `undefined` without the option. */
  get lookUps(): RequestLookUps | undefined {
    this.#lookUps ??= this.#options.lookUps?.start(this)
    return this.#lookUps
  }

  /** The entity manager of the database with that name. The first call forks it. */
  manager(name = 'default'): EntityManager {
    this.#managers ??= new Map()
    const known = this.#managers.get(name)
    if (known) return known
    const em = this.#lookUps?.fork(name) ?? this.orm(name).em.fork()
    this.#managers.set(name, em)
    return em
  }

  /** Notes that an entity was used, if `lastUses` of `databases()` has its model. */
  noteUse(entity: object): void {
    for (const uses of this.#options.lastUses ?? []) if (entity instanceof uses.model) uses.note(entity)
  }

  /** Whether there is an entity manager, which may hold unsaved changes. */
  hasManager(name = 'default'): boolean {
    return this.#managers?.has(name) ?? false
  }
}

/** The metadata of a model. Throws `Misuse` if MikroORM does not know the class. */
export function metadataOf(em: EntityManager, model: Class): EntityMetadata<object> {
  const metadata = em.getMetadata()
  if (metadata.has(model as EntityClass<object>)) return metadata.get<object>(model)
  if (EntitySchema.REGISTRY.has(model as EntityClass<object>))
    throw new Misuse(`Add ${model.name} to the \`entities\` of MikroORM.`)
  throw new Misuse(`Call \`${model.name}Schema.setClass(${model.name})\`.`)
}
