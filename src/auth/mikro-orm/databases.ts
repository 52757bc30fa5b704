import type { EntityManager, MikroORM } from '@mikro-orm/core'
import type { ExtendableContext, Next } from 'koa'
import { Misuse } from '../errors.ts'
import { Slot } from '../slot.ts'

/** The databases of an application by name; `default` is the one that is meant where none is named. */
export type Databases = { readonly default: MikroORM } & { readonly [name: string]: MikroORM }

/** What one statement has found. */
export interface Found {
  readonly database: string
  /** An entity, and perhaps the one that it belongs to. */
  readonly entities: readonly object[]
  /** Puts them into an entity manager. */
  attach(em: EntityManager): void
}

const mounted = new Slot<RequestDatabases>('databases')

/**
 * Gives every request its databases. An entity manager is forked only when something asks for one.
 */
export function databases(
  orm: MikroORM | Databases,
): (ctx: ExtendableContext, next: Next) => Promise<unknown> {
  const all: Databases = isDatabases(orm) ? orm : { default: orm }
  return (ctx, next) => {
    mounted.set(ctx, new RequestDatabases(all))
    return next()
  }
}

/**
 * The entity manager of this request, the same at each call, so that handlers get the very entity that an
 * authenticator logged in.
 *
 * @param database its name, if it is not the default one
 */
export function entityManager(ctx: object, database?: string): EntityManager {
  return databasesOf(ctx).manager(database)
}

/** For look-ups: the databases of a request. */
export function databasesOf(ctx: object): RequestDatabases {
  const found = mounted.get(ctx)
  if (!found)
    throw new Misuse('Add `app.use(databases(orm))` before the first authenticator of a persisted model.')
  return found
}

/** The databases of one request, its entity managers, and what was found before there were any. */
class RequestDatabases {
  readonly #all: Databases
  #managers: Map<string, EntityManager> | undefined
  #found: readonly Found[] | undefined

  constructor(all: Databases) {
    this.#all = all
  }

  /** The database itself. Throws `Misuse` if there is none of that name. */
  database(name = 'default'): MikroORM {
    const orm = name === 'default' || Object.hasOwn(this.#all, name) ? this.#all[name] : undefined
    if (!orm)
      throw new Misuse(`There is no database "${name}": name it in \`app.use(databases({ ${name}: orm }))\`.`)
    return orm
  }

  /** The entity manager, from the first call on the same. */
  manager(name = 'default'): EntityManager {
    const known = this.#managers?.get(name)
    if (known) return known
    const em = this.database(name).em.fork()
    this.#managers ??= new Map()
    this.#managers.set(name, em)
    for (const each of this.#found ?? []) if (each.database === name) each.attach(em)
    return em
  }

  /** Whether there is an entity manager, which may know more than the database. */
  isInUse(name = 'default'): boolean {
    return this.#managers?.has(name) ?? false
  }

  /** What was found is to be in the entity manager, if somebody asks for one. */
  note<One extends Found>(found: One): One {
    this.#found = this.#found ? [...this.#found, found] : [found]
    return found
  }

  /** The one of those entities that was found on this request already, if any. */
  foundBefore(isIt: (entity: object) => boolean, name = 'default'): object | undefined {
    for (const each of this.#found ?? []) {
      const entity = each.database === name ? each.entities.find(isIt) : undefined
      if (entity) return entity
    }
    return undefined
  }
}

function isDatabases(orm: MikroORM | Databases): orm is Databases {
  return !('em' in orm)
}
