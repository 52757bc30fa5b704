import type { Site } from './site.ts'

interface PausedTransaction {
  /** Resolves when the transaction is about to begin. */
  readonly begun: Promise<void>
  release(): void
}

/** Returns a function that pauses the next transaction of a site before it begins. */
export function transactionPauser({ orm }: Site): () => PausedTransaction {
  let next: { begun(): void; released: Promise<void> } | undefined
  orm.em.getEventManager().registerSubscriber({
    async beforeTransactionStart() {
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
