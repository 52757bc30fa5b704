import { TryLater } from '../refusal.ts'

/** A 429 that ends after this many milliseconds. */
export function tooMany(milliseconds: number): TryLater {
  const seconds = Math.max(1, Math.ceil(milliseconds / 1000))
  const minutes = Math.ceil(seconds / 60)
  const wait =
    minutes > 90 ? `${Math.ceil(minutes / 60)} hours` : minutes === 1 ? 'a minute' : `${minutes} minutes`
  return new TryLater(429, `Too many attempts. Try again in ${wait}.`, seconds)
}
