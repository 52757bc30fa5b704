import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Eta } from 'eta'
import type { ExtendableContext } from 'koa'
import koaViews from 'koa-views'
import { root } from '../config/root.ts'
import { User } from '../users/user.ts'
import type { HostCookie } from './host-cookie.ts'
import type { SiteContext } from './site-context.ts'
import type { Common, SiteData, Views } from './view-data.ts'
import { ago, day, full, initials, moment, quoted } from './wording.ts'

// An error before authentication is rendered without `auth`.
type PageContext = Pick<SiteContext, 'render' | 'protocol' | 'host' | 'requestId'> &
  Partial<Pick<SiteContext, 'auth'>>

const maxAcceptLength = 1024
const folder = join(root, 'views')

/**
 * Whether the response is a page, and not JSON (docs/http-api.md). An `Authorization` header gets
 * JSON. A form body, or an `Accept` header that prefers HTML, gets a page. Other requests get JSON.
 */
export function wantsPage(ctx: ExtendableContext): boolean {
  if (ctx.req.headers.authorization !== undefined) return false
  return Boolean(ctx.is('urlencoded')) || prefersHtml(ctx)
}

// Parsed once for each request. A longer header than browsers send counts as `*/*`, because it can take milliseconds to parse.
function prefersHtml(ctx: ExtendableContext & { state?: { prefersHtml?: boolean } }): boolean {
  const { req, state = {} } = ctx
  const isShort = (req.headers.accept ?? '').length <= maxAcceptLength
  state.prefersHtml ??= isShort && ctx.accepts(['json', 'html']) === 'html'
  return state.prefersHtml
}

type Render = ExtendableContext['render']

/** Returns `ctx.render` for `app.context`, with the same `data` for every page, and the theme of the cookie. */
export function views(data: SiteData, theme?: HostCookie): Render {
  const eta = new Eta({ cache: true, autoEscape: true })
  const shared = { ...data, quoted, full, day, moment, ago }
  const names = new Map<string, string>()
  // All templates are read at the start, because later the process may be out of file descriptors. Names such as
  // `@partials/field` are faster in Eta than paths.
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.eta')) continue
    const name = `@${file.slice(0, -'.eta'.length)}`
    names.set(file, name)
    eta.loadTemplate(name, readFileSync(join(folder, file), 'utf8'))
  }
  // Without a context, koa-views returns `ctx.render` itself. A function for each request would keep the request in memory until V8
  // collects all garbage.
  const renderByKoaViews = (koaViews(folder, { extension: 'eta' }) as unknown as () => Render)()
  // koa-views calls `fs.stat` for each response, in the thread pool that bcrypt uses too. A known template is in memory, so it is
  // rendered directly. koa-views reports an unknown name.
  return async function (this: ExtendableContext, file: string, { view }: { view: object }) {
    const name = names.get(file)
    if (name === undefined) return renderByKoaViews.call(this, file)
    this.type = 'html'
    // One literal, because V8 keeps an object that grows key by key as a dictionary, which each include would copy slowly.
    this.body = eta.render(name, { ...view, ...shared, theme: theme?.read(this) })
  }
}

/** Responds with a view. The caller sets the status. */
export function page<Name extends keyof Views>(
  ctx: PageContext,
  name: Name,
  data: Views[Name],
): Promise<void> {
  const errorAt = (name: string) => data.errors?.find(({ field }) => field === name)?.detail
  return ctx.render(`${name}.eta`, { view: { ...commonOf(ctx), ...data, errorAt } })
}

/**
 * Redirects with 303 (RFC 9110 §15.4.4).
 *
 * @param path a path of the site, checked by `nextPath` if it comes from a client
 * @param notice a text that a later page shows once (`takeNotice`); kept in the session, so that no link can set it
 */
export function seeOther(ctx: SiteContext, path: string, notice?: string): void {
  if (notice !== undefined) ctx.session.notice = notice
  ctx.status = 303
  ctx.redirect(path)
}

/** Completes an action: redirects a browser with a notice, and sends 204 to an API client. */
export function complete(ctx: SiteContext, path: string, notice?: string): void {
  if (wantsPage(ctx)) seeOther(ctx, path, notice)
  else ctx.status = 204
}

/** Returns the notice of the session. A GET request also removes it. */
export function takeNotice({ session, method }: SiteContext): string | undefined {
  const { notice } = session
  if (method === 'GET') delete session.notice
  return notice
}

function commonOf({ auth, protocol, host, requestId }: PageContext): Common {
  const isUserUnknown = auth?.failure !== undefined
  const user = isUserUnknown ? undefined : auth?.get(User)
  return {
    user: user && { name: user.name, email: user.email },
    avatar: user && { initials: initials(user.name), tone: Number.parseInt(user.id.slice(-4), 16) % 6 },
    isUserUnknown,
    origin: `${protocol}://${host}`,
    request: requestId,
  }
}
