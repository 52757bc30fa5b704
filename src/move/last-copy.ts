import type { EntityManager } from '@mikro-orm/core'
import { execute } from './execute.ts'

/** What a copy says of itself: what it was copied from, and a digest of all that was in it then. */
export interface Copy {
  readonly source: string
  readonly digest: string
}

/** What the target says of the last copy, if there was one. */
export async function lastCopy(target: EntityManager): Promise<Copy | undefined> {
  await execute(target, 'create table if not exists last_copy (source text not null, digest text not null)')
  const [copy] = await execute<Copy>(target, 'select source, digest from last_copy')
  return copy
}

/** Has the target say what it is now a copy of. */
export async function noteCopy(target: EntityManager, { source, digest }: Copy): Promise<void> {
  await execute(target, 'delete from last_copy')
  await execute(target, 'insert into last_copy (source, digest) values (?, ?)', [source, digest])
}
