import type { AuthContext } from '../auth.ts'
import { Misuse, Undecided } from '../errors.ts'
import type { FlowData } from './flow.ts'
import type { SignInWith } from './provider-authenticator.ts'

/** The options of a flow. */
export interface FlowOptions<Data extends FlowData = FlowData> {
  /** The application's own data, such as the path to return to. `providerAnswer(ctx).flow.data` has it at the callback. */
  readonly data?: Data
  /** The maximum age of the proof of identity, in seconds. With 0, the person has to authenticate again. Only with OpenID Connect. */
  readonly maxAge?: number | undefined
}

/**
 * A handler that starts a flow: `router.post('/login/google', startFlow(google))`. Responds with a page that opens the
 * provider, because Chromium and Safari apply the `form-action` of a Content-Security-Policy to redirects. Behind a guard or error
 * boundary, a provider that cannot be reached is `Undecided` (503).
 */
export function startFlow<Data extends FlowData = FlowData>(
  signInWith: SignInWith<Data>,
  options: (ctx: AuthContext) => FlowOptions<Data> = () => ({}),
): (ctx: AuthContext) => Promise<void> {
  return async (ctx) => {
    if (ctx.method !== 'POST')
      throw new Misuse('Mount `startFlow` on a POST route, or other sites could start flows.')
    const url = await beginFlow(signInWith, ctx, options(ctx))
    const address = url.href.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
    ctx.set('Cache-Control', 'no-store')
    ctx.type = 'html'
    ctx.body = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${address}">
<title>Continue</title><p><a href="${address}">Continue</a></p>`
  }
}

/** Starts a flow. Returns the URL of the provider that the browser has to open. Throws `Undecided` if the provider cannot be reached. */
export async function beginFlow<Data extends FlowData = FlowData>(
  { provider, flows }: SignInWith<Data>,
  ctx: AuthContext,
  { data, maxAge }: FlowOptions<Data> = {},
): Promise<URL> {
  const flow = await flows.start(ctx, { provider: provider.name, data, maxAge })
  try {
    return await provider.authorizationUrl(flow)
  } catch (error) {
    throw error instanceof Misuse ? error : new Undecided(error)
  }
}
