import { type EntityManager, helper, type MikroORM, WrappedEntity } from '@mikro-orm/core'
import type { ExtendableContext, Next } from 'koa'
import { Misuse } from '../errors.ts'

/** The databases of an application by name. `default` is used if no name is given. */
export type Databases = { readonly default: MikroORM } & { readonly [name: string]: MikroORM }

// A symbol property of the context, because the entries of a `WeakMap` slow down garbage collection.
const mounted = Symbol('databases')
type Mounted = { [mounted]?: RequestDatabases }

/** Adds the databases to each request. An entity manager is forked at the first call of `entityManager(ctx)`. */
export function databases(
  orm: MikroORM | Databases,
): (ctx: ExtendableContext, next: Next) => Promise<unknown> {
  const orms = (isORM(orm) ? { default: orm } : orm) as Databases | undefined
  if (!isORM(orms?.default) || !Object.values(orms).every(isORM))
    throw new Misuse('Pass a MikroORM: `app.use(databases(await MikroORM.init(options)))`.')
  return (ctx, next) => {
    Reflect.set(ctx, mounted, new RequestDatabases(orms))
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

const Wrapper = WrappedEntity as unknown as new (...parts: readonly unknown[]) => object

/** MikroORM's wrapper, for entities of look-ups. Forks the entity manager on demand, for example to load a lazy column. */
export class LoadedWrapper extends Wrapper {
  declare source: { readonly config: object; fork(): EntityManager }
  get __em(): EntityManager {
    return this.source.fork()
  }
  set __em(value: EntityManager) {
    Object.defineProperty(this, '__em', { value, writable: true })
  }
  get __config(): object {
    return this.source.config
  }
}

/** The databases and entity managers of one request, and the entities that look-ups loaded without a manager. */
export class RequestDatabases {
  readonly #orms: Databases
  #managers: Map<string, EntityManager> | undefined
  #loaded: Map<string, readonly object[]> | undefined

  constructor(orms: Databases) {
    this.#orms = orms
  }

  /** The database of that name. Throws `Misuse` if there is none. */
  orm(name = 'default'): MikroORM {
    const orm = name === 'default' || Object.hasOwn(this.#orms, name) ? this.#orms[name] : undefined
    if (!orm)
      throw new Misuse(`There is no database "${name}": add it to \`app.use(databases({ ${name}: orm }))\`.`)
    return orm
  }

  /** The entity manager of the database with that name. The first call forks it. */
  manager(name = 'default'): EntityManager {
    const known = this.#managers?.get(name)
    if (known) return known
    // Look-ups use the global manager. A `RequestContext` that was opened after a look-up must not apply to this fork.
    const em = this.orm(name).em.fork({ disableContextResolution: this.#loaded?.has(name) ?? false })
    this.#managers ??= new Map()
    this.#managers.set(name, em)
    for (const entity of this.#loaded?.get(name) ?? []) {
      const { prototype, trackingProps, definedProperties } = helper(entity).__meta
      // Keeps the order of the properties. MikroORM would move each relation to the end.
      for (const { name: key } of trackingProps) Reflect.set(prototype, key, Reflect.get(entity, key), entity)
      Object.defineProperties(entity, definedProperties)
      em.getUnitOfWork().register(entity)
    }
    return em
  }

  /** Whether there is an entity manager, which may hold unsaved changes. */
  hasManager(name = 'default'): boolean {
    return this.#managers?.has(name) ?? false
  }

  /** Adds entities for the entity manager to manage once it is forked. */
  addLoaded(entities: object[], name = 'default'): void {
    this.#loaded ??= new Map()
    this.#loaded.set(name, [...(this.#loaded.get(name) ?? []), ...entities])
    const source = { config: this.orm(name).config, fork: () => this.manager(name) }
    for (const each of entities) Object.assign(helper(each), { source })
  }

  /** The entity of this class with this primary key, if a look-up of this request has loaded it. */
  loaded(model: unknown, key: string, name = 'default'): object | undefined {
    return this.#loaded?.get(name)?.find((each) => each.constructor === model && keyInRow(each) === key)
  }
}

/** The primary key in the row of an entity, as text. The application may have changed the entity's property since. */
export function keyInRow(entity: object): string {
  const { __meta: meta, __originalEntityData: row = {} } = helper(entity)
  return String(Reflect.get(row, meta.getPrimaryProp().name))
}
