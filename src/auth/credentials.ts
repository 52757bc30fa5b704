import type { AuthContext, AuthMiddleware } from './auth.ts'
import { type Find, RequestAuthenticator } from './authenticator.ts'
import type { Class } from './class.ts'
import { atOnce, Misuse } from './errors.ts'

/** The credentials of a log-in form (specification, "POST /login (form login with session)"). */
export interface PasswordCredentials {
  readonly username: string
  readonly password: string
}

/** How a credentials authenticator reads a body. */
export interface CredentialsOptions {
  /** What the fields of the form are called, if not `username` and `password`: `{ username: 'email' }`. */
  readonly fields?: { readonly username?: string; readonly password?: string }
}

/**
 * Verifies credentials in the decoded body of the request. They decide alone: what a session restored gives way to
 * them, whether they turn out right or wrong.
 */
export abstract class CredentialsAuthenticator<
  User extends object = object,
  Credentials = PasswordCredentials,
> extends RequestAuthenticator<User> {
  override readonly signsIn = true
  readonly #fields: Required<NonNullable<CredentialsOptions['fields']>>
  // Some parsers leave no trace of a body that they do not decode, so one decoded body is the proof of a parser.
  #hasParser = false

  constructor({ fields }: CredentialsOptions = {}) {
    super()
    this.#fields = { username: 'username', password: 'password', ...fields }
  }

  /**
   * The middleware over a check of your own, for users that are kept in a way that no other kind knows:
   * `CredentialsAuthenticator.from(User, ({ username, password }) => userOf(username, password))`.
   */
  static from<User extends object>(
    user: Class<User>,
    find: Find<NoInfer<User>, PasswordCredentials>,
    options: CredentialsOptions = {},
  ): AuthMiddleware {
    return new FoundByCredentials(user, find, options).middleware()
  }

  /** Called when the body has credentials. Calls `ctx.auth.login` if they match, else does nothing. */
  abstract authenticate(credentials: Credentials, ctx: AuthContext): void | Promise<void>

  /**
   * Proves the body to be credentials, or returns `undefined`: anything of the wrong shape is no credentials, not an
   * error. Override it for credentials other than a name and a password.
   */
  parse(body: unknown): Credentials | undefined {
    // A subclass with credentials of its own overrides this; without one, `Credentials` is the default.
    return parsePasswordCredentials(body, this.#fields) as Credentials | undefined
  }

  override attempt(ctx: AuthContext): void | Promise<void> {
    // An `Authorization` header that was sent beside them decides alone.
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

class FoundByCredentials<User extends object> extends CredentialsAuthenticator<User> {
  readonly user: Class<User>
  readonly #find: Find<User, PasswordCredentials>

  constructor(user: Class<User>, find: Find<User, PasswordCredentials>, options: CredentialsOptions) {
    super(options)
    this.user = user
    this.#find = find
  }

  override async authenticate(credentials: PasswordCredentials, ctx: AuthContext): Promise<void> {
    const user = await this.#find(credentials, ctx)
    if (user) ctx.auth.login(user, this.user)
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
  // No key is that long or has control characters in it, and a database driver may choke on a NUL.
  if (username.length > 1024 || /\p{Cc}/u.test(username) || !username.isWellFormed()) return undefined
  return { username, password }
}

/** Whether the request brought a body that every parser decodes by default, and nothing has read it. */
function isUnread(ctx: AuthContext): boolean {
  const isParsed = ['POST', 'PUT', 'PATCH'].includes(ctx.method) && ctx.is('urlencoded', 'json')
  return Boolean(isParsed) && !ctx.req.readableDidRead
}
