import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Eta } from 'eta'
import type { Middleware } from 'koa'
import koaViews from 'koa-views'
import { root } from '../config/root.ts'
import type { HostCookie } from './host-cookie.ts'
import type { SiteData } from './view-data.ts'

const folder = join(root, 'views')

/**
 * Adds `ctx.render`, with the same `data` for every page, and the theme of the cookie. Use it before the error boundary, which renders the
 * error page.
 */
export function views(data: SiteData, theme?: HostCookie): Middleware {
  const eta = new Eta({ cache: true, autoEscape: true })
  const names = new Map<string, string>()
  // All templates are read at the start, because later the process may be out of file descriptors. Names such as
  // `@partials/field` are faster in Eta than paths.
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.eta')) continue
    const name = `@${file.slice(0, -'.eta'.length)}`
    names.set(join(folder, file), name)
    eta.loadTemplate(name, readFileSync(join(folder, file), 'utf8'))
  }
  // koa-views adds all of `ctx.state` to the locals. Templates get `view` only, which is a new object for each response.
  const render = async (path: string, { view }: { view: object }) =>
    eta.render(names.get(path) ?? path, Object.assign(view, data))
  const mount = koaViews(folder, { extension: 'eta', engineSource: { eta: render } })
  // koa-views calls `fs.stat` for each response, in the thread pool that bcrypt uses too. A known template is in memory, so it is
  // rendered directly. koa-views reports an unknown name.
  return (ctx, next) =>
    mount(ctx, () => {
      const { render: renderByKoaViews } = ctx
      ctx.render = async (file: string, locals: { view: object }) => {
        const name = names.get(join(folder, file))
        if (name === undefined) return renderByKoaViews.call(ctx, file, locals)
        ctx.type = 'html'
        ctx.body = eta.render(name, Object.assign(locals.view, data, { theme: theme?.read(ctx) }))
      }
      return next()
    })
}
