import type { Site } from './site.ts'

/** A request that is about to write what its handler has changed. */
export interface HeldFlush {
  /** When it is. */
  readonly begun: Promise<void>
  release(): void
}

/** Makes a database of which each call of what it returns holds the next flush, before anything is locked or written. */
export function flushHolder({ orm }: Site): () => HeldFlush {
  let next: { begun(): void; released: Promise<void> } | undefined
  orm.em.getEventManager().registerSubscriber({
    async beforeFlush() {
      const held = next
      next = undefined
      held?.begun()
      await held?.released
    },
  })
  return () => {
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    next = { begun: begun.resolve, released: released.promise }
    return { begun: begun.promise, release: released.resolve }
  }
}
