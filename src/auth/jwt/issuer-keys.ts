import { VerifiedTokens } from './verified-tokens.ts'
import type { VerifyingKey } from './verify-token.ts'

/** The keys of an issuer, and the tokens that they have verified. */
interface KeySet {
  readonly keys: readonly VerifyingKey[]
  readonly verified: VerifiedTokens
  readonly loadedAt: number
}

interface Source {
  readonly load: () => Promise<readonly VerifyingKey[]>
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

// In milliseconds.
const pause = 30_000
const freshFor = 10 * 60_000
const usableFor = 60 * 60_000

/**
 * Caches the keys of an issuer. They are loaded again for an unknown `kid`, and after 10 minutes, so that a key that the issuer has
 * removed stops working. If that fails, they remain usable for an hour.
 */
export class IssuerKeys {
  readonly #source: Source
  #current: KeySet | undefined
  #loading: Promise<KeySet> | undefined
  #triedAt = 0

  constructor(source: Source) {
    this.#source = source
  }

  /** The current keys, after loading them if none has that `kid`. Throws if the keys are needed and cannot be loaded. */
  async forKid(kid: string | undefined): Promise<KeySet> {
    const current = this.#current
    if (!current?.keys.some((key) => kid === undefined || kid === key.kid)) return this.#reload()
    const age = Math.abs(this.#source.now() - current.loadedAt)
    if (age >= usableFor) return this.#reload()
    // Requests do not wait for a slow issuer while its last keys are usable.
    if (age >= freshFor) this.#reload().catch(() => undefined)
    return current
  }

  /** Loads the keys. If the last try was less than 30 seconds ago, returns its result, whatever the tokens contain. */
  #reload(): Promise<KeySet> {
    const now = this.#source.now()
    if (this.#loading && Math.abs(now - this.#triedAt) < pause) return this.#loading
    this.#triedAt = now
    const loading = this.#source.load().then((keys) => {
      this.#current = { keys, verified: new VerifiedTokens(), loadedAt: now }
      return this.#current
    })
    loading.catch((error) => this.#current && this.#source.onError(error))
    this.#loading = loading
    return loading
  }
}
