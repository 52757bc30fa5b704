import type { Site } from './site.ts'

/** A held flush of a request. */
interface HeldFlush {
  /** Resolves when the flush starts. */
  readonly begun: Promise<void>
  release(): void
}

/** Returns a function that holds the next flush of a site, before it locks or writes anything. */
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
