import type { Site } from './site.ts'

interface PausedFlush {
  /** Resolves when the flush starts. */
  readonly begun: Promise<void>
  release(): void
}

/** Returns a function that pauses the next flush of a site before it writes. */
export function flushPauser({ orm }: Site): () => PausedFlush {
  let next: { begun(): void; released: Promise<void> } | undefined
  orm.em.getEventManager().registerSubscriber({
    async beforeFlush() {
      const paused = next
      next = undefined
      paused?.begun()
      await paused?.released
    },
  })
  return () => {
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    next = { begun: begun.resolve, released: released.promise }
    return { begun: begun.promise, release: released.resolve }
  }
}
