import type { EntityManager, MikroORM } from '@mikro-orm/core'
import type { ExtendableContext, Next } from 'koa'
import { Misuse } from '../errors.ts'
import { Slot } from '../slot.ts'
import type { ReadOptions } from './prepared-read.ts'

/** The databases of an application by name; `default` is the one that is meant where none is named. */
export type Databases = { readonly default: MikroORM } & { readonly [name: string]: MikroORM }

interface Mounted {
  readonly options: ReadOptions
  readonly databases: Databases
  /** By the name of their database, once somebody has asked for one. */
  managers?: Map<string, EntityManager>
  /** What was found before there was an entity manager. */
  found?: Found[]
}

/** What one statement has found. */
export interface Found {
  readonly database: string
  /** An entity, and perhaps the one that it belongs to. */
  readonly entities: readonly object[]
  /** Puts them into an entity manager. */
  attach(em: EntityManager): void
}

const mounted = new Slot<Mounted>('databases')

/**
 * Gives every request its databases. An entity manager is forked only when something asks for one.
 *
 * @param options.remember whether rows that authenticators have found may be remembered until anything is committed that may
 *   have changed them; so it is, where that can be told exactly, unless this is `false`. What an SQLite database is at the
 *   first look-up it has to stay then, as far as this connection can change it: with the same `journal_mode`, and with no
 *   view and no temporary table in the place of a model's own
 */
export function databases(
  orm: MikroORM | Databases,
  options: ReadOptions = {},
): (ctx: ExtendableContext, next: Next) => Promise<unknown> {
  const all: Databases = isDatabases(orm) ? orm : { default: orm }
  return (ctx, next) => {
    mounted.set(ctx, { options, databases: all })
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
  const mount = mountedOn(ctx)
  const known = mount.managers?.get(database)
  if (known) return known
  const em = databaseOf(ctx, database).em.fork()
  mount.managers ??= new Map()
  mount.managers.set(database, em)
  for (const each of mount.found ?? []) if (each.database === database) each.attach(em)
  return em
}

/** For look-ups: the database itself. */
export function databaseOf(ctx: object, database = 'default'): MikroORM {
  const { databases } = mountedOn(ctx)
  const orm = Object.hasOwn(databases, database) ? databases[database] : undefined
  if (!orm)
    throw new Misuse(
      `There is no database "${database}": name it in \`app.use(databases({ ${database}: orm }))\`.`,
    )
  return orm
}

/** For look-ups: how they are to read. */
export function readOptionsOf(ctx: object): ReadOptions {
  return mountedOn(ctx).options
}

/** For look-ups: whether the request has an entity manager, which may know more than the database. */
export function isInUse(ctx: object, database = 'default'): boolean {
  return mountedOn(ctx).managers?.has(database) ?? false
}

/** For look-ups: what was found is to be in the entity manager, if somebody asks for one. */
export function noteFound(ctx: object, found: Found): void {
  const mount = mountedOn(ctx)
  mount.found ??= []
  mount.found.push(found)
}

/** For look-ups: the one of those entities that was found on this request already, if any. */
export function foundBefore(
  ctx: object,
  isIt: (entity: object) => boolean,
  database = 'default',
): object | undefined {
  for (const each of mountedOn(ctx).found ?? []) {
    const entity = each.database === database ? each.entities.find(isIt) : undefined
    if (entity) return entity
  }
  return undefined
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
