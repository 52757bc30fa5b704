import { minute } from '../durations.ts'
import { TryLater } from '../refusal.ts'
import type { Allowance } from './allowance.ts'

/**
 * A 429 for a client that may try again after `wait` milliseconds. It names the used-up allowance in the same words for
 * existing and missing accounts.
 */
export function tooMany(wait: number, allowance?: Allowance, now = Date.now()): TryLater {
  const seconds = Math.max(1, Math.ceil(wait / 1000))
  const until = new Date(Math.ceil((now + seconds * 1000) / minute) * minute).toISOString().slice(11, 16)
  const detail = `Too many attempts${scopeOf(allowance)}. Try again in ${lengthOf(seconds)}, at ${until} UTC.`
  return new TryLater(429, detail, seconds, allowance && describe(allowance))
}

function scopeOf({ by }: Pick<Allowance, 'by'> = { by: [] }): string {
  if (!by.includes('account')) return by.includes('network') ? ' from your network' : ''
  // The same words for a network and a known device, because only existing accounts have known devices.
  return by.length > 1 ? ' for this account from your network or device' : ' for this account'
}

function lengthOf(seconds: number): string {
  const minutes = Math.ceil(seconds / 60)
  if (minutes > 90) return `${Math.ceil(minutes / 60)} hours`
  return minutes === 1 ? 'a minute' : `${minutes} minutes`
}

/** An allowance in the words of the log, such as `account and network: 10 (failure) in 15 minutes`. */
function describe({ by, limit, within, counts }: Allowance): string {
  return `${by.join(' and ')}: ${limit} (${counts.join(', ')}) in ${within / minute} minutes`
}
