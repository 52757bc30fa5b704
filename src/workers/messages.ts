/** What the primary has a worker do: take over the purging; go as on SIGTERM; go while others serve in its place. */
export type Order = 'purge' | 'stop' | 'giveWay'

/** What a worker tells the primary: that it listens, and where; or, in a sentence for the operator, why it cannot. */
export type Report = { readonly listening: string } | { readonly refused: string }
