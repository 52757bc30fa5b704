import { Misuse } from './errors.ts'

/** When and how a user proved who they are. */
export interface Authentication {
  readonly at: Date
  /** Values of RFC 8176, such as `pwd`, `otp` and `mfa`. Empty if they are unknown. */
  readonly methods: readonly string[]
}

/** The options of `login`. */
export interface LoginOptions {
  /** How the user proved who they are, in values of RFC 8176, such as `['pwd', 'otp', 'mfa']`. */
  readonly methods?: readonly string[]
  /** When the user proved it, if that was earlier, as an identity provider may say. By default, and for a time in the future, now. */
  readonly at?: Date
}

/** A duration such as `30s`, `10m`, `1h` or `1d`, or a number of milliseconds. */
export type Duration = number | `${number}${'s' | 'm' | 'h' | 'd'}`

/**
 * The authentication that `login` records. By default, the methods are those of the authenticator. Without methods, a handler
 * or a sign-in form records an empty list. Any other authenticator without methods records no authentication, because
 * the credentials may be a token that the client has stored.
 */
export function authenticationNow(
  by: { readonly signsIn: boolean; readonly methods?: readonly string[] | undefined } | undefined,
  methods: readonly string[] | undefined = by?.methods ?? (!by || by.signsIn ? [] : undefined),
  at?: Date,
): Authentication | undefined {
  if (methods === undefined) return undefined
  if (!isStrings(methods))
    throw new Misuse("The `methods` of a login must be strings, as in `{ methods: ['pwd'] }`.")
  const now = Date.now()
  return { at: new Date(Math.min(at?.getTime() ?? now, now)), methods }
}

/** The authentication of a record in a session. `undefined` if the record is missing or invalid. */
export function fromRecord(record: unknown): Authentication | undefined {
  if (typeof record !== 'object' || record === null) return undefined
  const { at: milliseconds, methods } = record as Record<string, unknown>
  if (typeof milliseconds !== 'number' || !isStrings(methods)) return undefined
  const at = new Date(milliseconds)
  return Number.isNaN(at.getTime()) ? undefined : { at, methods }
}

// The maximum difference between the clocks of two servers. A time further in the future is not fresh.
const maxSkew = 60_000

/** Whether an authentication is known, not older than a duration, and not far in the future. Throws `Misuse` for an invalid duration. */
export function isFresh(authentication: Authentication | undefined, within: Duration): boolean {
  const maxAge = milliseconds(within)
  if (!authentication) return false
  const age = Date.now() - authentication.at.getTime()
  return age <= maxAge && age >= -maxSkew
}

const units = new Map([
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

/** Converts a duration to milliseconds. Throws `Misuse` for an invalid duration. */
export function milliseconds(duration: Duration): number {
  const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(String(duration)) ?? []
  const value = typeof duration === 'number' ? duration : Number(count) * (units.get(unit) ?? Number.NaN)
  if (value > 0 && value < Number.POSITIVE_INFINITY) return value
  throw new Misuse('`fresh` must be a duration such as "30s", "10m", "1h" or "1d", or milliseconds.')
}

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}
