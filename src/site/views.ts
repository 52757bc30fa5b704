import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Eta } from 'eta'
import type { Context, Middleware } from 'koa'
import koaViews from 'koa-views'
import { root } from '../config/root.ts'
import type { NewTokenRecord, SessionRecord, TokenRecord } from './records.ts'
import { full, quoted } from './wording.ts'

/** What every page is told. `ctx.state.page` finds it out; what it leaves out is as for a visitor. */
export type Common = {
  /** Who is signed in by session. */
  user?: { name: string; email: string } | undefined
  /** The database is away: nobody can tell who is signed in. */
  unsure?: boolean
  /** `http://localhost:3000`, for the lines to paste into a terminal. */
  origin?: string
}

/** A message for a field of a form. One without a field, or with a field that is not on the page, stands in the summary alone. */
export type Complaint = { field?: string | undefined; detail: string }

/** What each view is given beside the common data: plain values, never an entity. */
export type Views = {
  home: object
  'sign-up': { values?: { name?: string; email?: string }; errors?: Complaint[]; next?: string | undefined }
  'sign-in': {
    values?: { username?: string; remember?: boolean }
    errors?: Complaint[]
    next?: string | undefined
    notice?: string | undefined
  }
  profile: {
    user: { name: string; email: string }
    passwordChangedAt: Date
    /** What was typed for a new name, if it could not be taken. */
    typedName?: string | undefined
    errors?: Complaint[]
    notice?: string | undefined
  }
  sessions: { sessions: SessionRecord[]; notice?: string | undefined }
  'api-tokens': {
    tokens: TokenRecord[]
    /** Where the tokens are that find no room. */
    older?: string | undefined
    created?: NewTokenRecord | undefined
    values?: { name: string; days: string }
    errors?: Complaint[]
    notice?: string | undefined
  }
  'change-password': { errors?: Complaint[] }
  'close-account': { errors?: Complaint[]; isConfirmed?: boolean }
  'account-closed': object
  activity: {
    events: { event: string; isRefusal: boolean; at: Date; device: string; address: string }[]
    /** The page with older events, if there are any. */
    older?: string | undefined
  }
  error: { status: number; title: string; detail: string }
}

const folder = join(root, 'views')

/** Adds what `page` needs. Stands before the error boundary, so that the error page can be rendered too. */
export function views(): Middleware {
  const eta = new Eta({ cache: true, autoEscape: true })
  const names = new Map<string, string>()
  // Not at its first use: that may be when the process can open no more files. And by names such as `@partials/field`: of
  // a path Eta would find out each time which file it means.
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.eta')) continue
    const name = `@${file.slice(0, -'.eta'.length)}`
    names.set(join(folder, file), name)
    eta.loadTemplate(name, readFileSync(join(folder, file), 'utf8'))
  }
  // koa-views merges the whole of `ctx.state` into what it hands over: templates get `view` and nothing else of it.
  const render = async (path: string, { view }: { view: object }) => eta.render(names.get(path) ?? path, view)
  return koaViews(folder, { extension: 'eta', engineSource: { eta: render } })
}

/** Answers with a view, and leaves the status to the caller. */
export function page<Name extends keyof Views>(
  ctx: Pick<Context, 'state' | 'render'>,
  name: Name,
  data: Views[Name],
): Promise<void> {
  const view = { site: 'koa-authenticators', origin: '', ...ctx.state.page?.tell(), ...data, quoted, full }
  return ctx.render(`${name}.eta`, { view })
}
