import type { AuthContext, AuthMiddleware } from './auth.ts'
import { authenticateBy, type Find, RequestAuthenticator } from './authenticator.ts'
import type { Class } from './class.ts'
import { atOnce, Misuse } from './errors.ts'

/** The user name and password of a sign-in form. */
export interface PasswordCredentials {
  readonly username: string
  readonly password: string
}

/** The options of a credentials authenticator. */
export interface CredentialsOptions {
  /** The names of the form's fields, if they are not `username` and `password`: `{ username: 'email' }`. */
  readonly fields?: { readonly username?: string; readonly password?: string }
}

/**
 * Verifies credentials in the decoded body of the request. They alone decide: a user of the session is withdrawn, even if
 * the credentials are wrong.
 */
export abstract class CredentialsAuthenticator<
  User extends object = object,
  Credentials = PasswordCredentials,
> extends RequestAuthenticator<User> {
  override readonly signsIn = true
  readonly #fields: Required<NonNullable<CredentialsOptions['fields']>>
  // Some parsers leave no trace of a body that they do not decode. One decoded body proves that there is a parser.
  #hasParser = false

  constructor({ fields }: CredentialsOptions = {}) {
    super()
    this.#fields = { username: 'username', password: 'password', ...fields }
  }

  /**
   * The middleware for a function:
   * `CredentialsAuthenticator.from(User, ({ username, password }) => userBy(username, password))`.
   */
  static from<User extends object>(
    user: Class<User>,
    find: Find<NoInfer<User>, PasswordCredentials>,
    options: CredentialsOptions = {},
  ): AuthMiddleware {
    class FromFunction extends CredentialsAuthenticator<User> {
      override readonly user = user
      override authenticate = authenticateBy(user, find)
    }
    return new FromFunction(options).middleware()
  }

  /** Called for a body with credentials. Calls `ctx.auth.login` if they match, else does nothing. */
  abstract authenticate(credentials: Credentials, ctx: AuthContext): void | Promise<void>

  /** The credentials in a body; `undefined` for a body of another shape. Override it for other credentials. */
  parse(body: unknown): Credentials | undefined {
    // A subclass with other credentials overrides this method, so here they are a name and a password.
    return parsePasswordCredentials(body, this.#fields) as Credentials | undefined
  }

  override attempt(ctx: AuthContext): void | Promise<void> {
    // An `Authorization` header decides alone.
    if (ctx.req.headers.authorization !== undefined) return
    const credentials = atOnce(this.parse(this.#bodyOf(ctx)), '`parse`')
    if (credentials === undefined) return
    ctx.auth.present(this.user)
    return this.authenticate(credentials, ctx)
  }

  override isSpared(ctx: AuthContext): boolean {
    return super.isSpared(ctx) && ctx.auth.credentialsSent
  }

  #bodyOf(ctx: AuthContext): unknown {
    // Body parsers put the decoded body there.
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

export { CredentialsAuthenticator as AsyncCredentialsAuthenticator }

function parsePasswordCredentials(
  body: unknown,
  fields: { readonly username: string; readonly password: string },
): PasswordCredentials | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const { [fields.username]: username, [fields.password]: password } = body as Record<string, unknown>
  if (typeof username !== 'string' || typeof password !== 'string') return undefined
  // A database driver may throw for a NUL or half a surrogate pair.
  if (username.length > 1024 || /\p{Cc}/u.test(username) || !username.isWellFormed()) return undefined
  return { username, password }
}

/** Whether the request has a body that every parser decodes by default, and nothing has read it. */
function isUnread(ctx: AuthContext): boolean {
  const isDecodable = ['POST', 'PUT', 'PATCH'].includes(ctx.method) && Boolean(ctx.is('urlencoded', 'json'))
  return isDecodable && !ctx.req.readableDidRead
}
