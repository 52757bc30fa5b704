/** What an identity provider says about a person who has signed in there. */
export interface Identity {
  /**
   * The provider, such as `https://accounts.google.com`. Only `issuer` and `subject` together identify a person. Never look up
   * a user by the e-mail address, because its owner may be another person.
   */
  readonly issuer: string
  readonly subject: string
  readonly email: string | undefined
  /** Whether the provider says that the person owns the address. A missing claim counts as no. */
  readonly isEmailVerified: boolean
  readonly name: string | undefined
  /** When the person proved their identity to the provider. Many providers do not say. */
  readonly authenticatedAt: Date | undefined
  /** How, in values of RFC 8176. Empty if the provider does not say. */
  readonly methods: readonly string[]
  /** All claims of the ID token and of the user info, or the record of a provider without OpenID Connect. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** The identity in a set of OpenID Connect claims. Ignores claims of a wrong type. */
export function identityOf(issuer: string, claims: Readonly<Record<string, unknown>>): Identity {
  const { sub, email, email_verified, name, auth_time, amr } = claims
  return {
    issuer,
    subject: String(sub),
    email: textOf(email),
    // Apple and Cognito send strings.
    isEmailVerified: email_verified === true || email_verified === 'true',
    name: textOf(name),
    authenticatedAt: timeOf(auth_time),
    methods: Array.isArray(amr) ? amr.filter((each) => typeof each === 'string') : [],
    claims,
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function timeOf(seconds: unknown): Date | undefined {
  const time = new Date(typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : Number.NaN)
  return Number.isNaN(time.getTime()) ? undefined : time
}
