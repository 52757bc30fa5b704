import type { EntityManager, MikroORM } from '@mikro-orm/core'
import type { ExtendableContext, Next } from 'koa'
import { Misuse } from '../errors.ts'

/** The databases of an application by name; `default` is the one that is meant where none is named. */
export type Databases = { readonly default: MikroORM } & { readonly [name: string]: MikroORM }

interface Mounted {
  readonly databases: Databases
  readonly managers: Map<string, EntityManager>
}

const mounted = new WeakMap<object, Mounted>()

/** Gives every request its databases. An entity manager is forked only when something asks for one. */
export function databases(
  orm: MikroORM | Databases,
): (ctx: ExtendableContext, next: Next) => Promise<unknown> {
  const all: Databases = isDatabases(orm) ? orm : { default: orm }
  return (ctx, next) => {
    mounted.set(ctx, { databases: all, managers: new Map() })
    return next()
  }
}

/**
 * The entity manager of this request, the same at each call, so that handlers get the very entity that an
 * authenticator logged in.
 *
 * @param database its name, if it is not the default one
 */
export function entityManager(ctx: object, database = 'default'): EntityManager {
  const { databases, managers } = mountedOn(ctx)
  const known = managers.get(database)
  if (known) return known
  const orm = Object.hasOwn(databases, database) ? databases[database] : undefined
  if (!orm)
    throw new Misuse(
      `There is no database "${database}": name it in \`app.use(databases({ ${database}: orm }))\`.`,
    )
  const em = orm.em.fork()
  managers.set(database, em)
  return em
}

function mountedOn(ctx: object): Mounted {
  const found = mounted.get(ctx)
  if (!found)
    throw new Misuse('Add `app.use(databases(orm))` before the first authenticator of a persisted model.')
  return found
}

function isDatabases(orm: MikroORM | Databases): orm is Databases {
  return !('em' in orm)
}
