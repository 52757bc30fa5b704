import type { MikroORM } from '@mikro-orm/core'
import { type LastUses, LookUp } from 'koa-authenticators/mikro-orm'
import { StoredSession } from './layer-models.ts'
import { digest, isExpired } from './row-rules.ts'

// Loads the user with the session, so that the session authenticator needs no separate look-up.
const sessions = new LookUp({ model: StoredSession, property: 'digest', relation: 'user' })

/** A store for koa-session that uses the package's look-up. */
export function sessionStore(orm: MikroORM, uses: LastUses<StoredSession>) {
  return {
    // koa-session always passes the context, though its types do not say so.
    async get(id: string, _maxAge: unknown, { ctx }: { ctx?: unknown }) {
      const found = await sessions.find(ctx as object, digest(id))
      if (!found) return undefined
      const now = Date.now()
      const [createdAt, seenAt] = [found.createdAt.getTime(), (uses.of(found) ?? found.createdAt).getTime()]
      if (isExpired({ createdAt, seenAt }, now)) return undefined
      uses.note(found, now)
      return { User: found.user.id }
    },
    async set(id: string, data: object) {
      await orm.em.fork().nativeUpdate(StoredSession, digest(id), { data })
    },
    async destroy(id: string) {
      await orm.em.fork().nativeDelete(StoredSession, digest(id))
    },
  }
}
