import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Eta } from 'eta'
import { full, quoted } from '../../src/web/wording.ts'
import { publicUrl as origin } from '../data.ts'
import type { Person } from './row-rules.ts'

/** The site's own templates, so that every server answers with the same page. */
export const templates = join(import.meta.dirname, '../../views')

const eta = new Eta({ cache: true, autoEscape: true })
for (const file of readdirSync(templates, { recursive: true, encoding: 'utf8' }))
  if (file.endsWith('.eta')) eta.loadTemplate(nameOf(file), readFileSync(join(templates, file), 'utf8'))

const common = { site: 'koa-authenticators', full, quoted }

/** What the account page is told. */
export function accountView({ name, email, passwordChangedAt }: Omit<Person, 'id'>) {
  return { ...common, origin, user: { name, email }, passwordChangedAt: new Date(passwordChangedAt) }
}

/** What the login page is told. */
export function loginView() {
  return { ...common, origin }
}

/** The page of somebody with a session. */
export function accountPage(user: Omit<Person, 'id'>): string {
  return rendered('account.eta', accountView(user))
}

/** The page of a visitor. */
export function loginPage(): string {
  return rendered('login.eta', loginView())
}

/** What a template makes of a view. Its file is given as koa-views calls it. */
export function rendered(file: string, view: object): string {
  return eta.render(nameOf(file), view)
}

// The templates include one another by such names, `@partials/field`.
function nameOf(file: string): string {
  return `@${file.slice(0, -'.eta'.length)}`
}
