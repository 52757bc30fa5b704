import { type AuthContext, type AuthMiddleware, stateOf } from './auth.ts'
import { type Find, RequestAuthenticator, requireFind, type UserOrNothing } from './authenticator.ts'
import { type Class, requireSync } from './checks.ts'
import { Misuse } from './errors.ts'
import { warnOfMissingFields } from './warnings.ts'

/** The user name and password of a sign-in form. */
export interface PasswordCredentials {
  readonly username: string
  readonly password: string
}

/** The options of a credentials authenticator. */
export interface CredentialsOptions {
  /** The names of the form's fields, such as `{ username: 'email' }`. `username` and `password` by default. */
  readonly fields?: { readonly username?: string; readonly password?: string }
}

/** Verifies credentials in the decoded body. The credentials take precedence over a session, even if they are wrong. */
export abstract class CredentialsAuthenticator<
  User extends object = object,
  Credentials = PasswordCredentials,
> extends RequestAuthenticator<User> {
  override readonly signsIn = true
  override readonly methods: readonly string[] | undefined = ['pwd']
  readonly #fields: Required<NonNullable<CredentialsOptions['fields']>>
  // A body parser may leave `body` undefined for a media type that it ignores. One decoded body proves that a parser is mounted.
  #hasParser = false

  constructor({ fields }: CredentialsOptions = {}) {
    super()
    this.#fields = { username: 'username', password: 'password', ...fields }
  }

  /** The middleware for a function: `CredentialsAuthenticator.from(User, ({ username, password }) => …)`. */
  static from<User extends object>(
    user: Class<User>,
    find: Find<NoInfer<User>, PasswordCredentials>,
    options: CredentialsOptions = {},
  ): AuthMiddleware {
    class FromFunction extends CredentialsAuthenticator<User> {
      override readonly user = user
      override authenticate = requireFind(user, find)
    }
    return new FromFunction(options).middleware()
  }

  /** Verifies the credentials of a body. Returns the user if they match, else nothing. */
  abstract authenticate(credentials: Credentials, ctx: AuthContext): UserOrNothing<User>

  /** The credentials in a body; `undefined` for a body of another shape. Override it for other credentials. */
  parse(body: unknown): Credentials | undefined {
    if (typeof body !== 'object' || body === null) return undefined
    const fields = body as Record<string, unknown>
    const username = fields[this.#fields.username]
    const password = fields[this.#fields.password]
    if (typeof username !== 'string' || typeof password !== 'string') return undefined
    // A subclass with other credentials overrides this method.
    return { username, password } as Credentials
  }

  override attempt(ctx: AuthContext): UserOrNothing<User> {
    // An `Authorization` header takes precedence over the body.
    if (ctx.req.headers.authorization !== undefined) return
    const body = this.#bodyOf(ctx)
    const credentials = requireSync(this.parse(body), '`parse`')
    if (credentials === undefined) {
      return this.#hasDefaultParse ? warnOfMissingFields(ctx, body, Object.values(this.#fields)) : undefined
    }
    stateOf(ctx).present(this.user)
    if (this.#hasDefaultParse && !canExist(credentials as PasswordCredentials)) return
    return this.authenticate(credentials, ctx)
  }

  override isSkipped(ctx: AuthContext): boolean {
    return super.isSkipped(ctx) && stateOf(ctx).credentialsSent
  }

  get #hasDefaultParse(): boolean {
    return this.parse === CredentialsAuthenticator.prototype.parse
  }

  #bodyOf(ctx: AuthContext): unknown {
    // Body parsers set this property.
    const { body } = ctx.request as { body?: unknown }
    if (body !== undefined) this.#hasParser = true
    else if (!this.#hasParser && isUnread(ctx)) {
      throw new Misuse(
        'Add a body parser before the credentials authenticator, such as `app.use(bodyParser())`.',
      )
    }
    return body
  }
}

// A database driver may throw for a NUL or half a surrogate pair.
function canExist({ username }: PasswordCredentials): boolean {
  return username.length <= 1024 && !/\p{Cc}/u.test(username) && username.isWellFormed()
}

/** Whether the request has an unread body of a type that every body parser decodes by default. */
function isUnread(ctx: AuthContext): boolean {
  const isDecodable = ['POST', 'PUT', 'PATCH'].includes(ctx.method) && Boolean(ctx.is('urlencoded', 'json'))
  return isDecodable && !ctx.req.readableDidRead
}
