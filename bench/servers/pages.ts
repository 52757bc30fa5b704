import { join } from 'node:path'
import { Eta } from 'eta'
import { publicUrl as origin } from '../data.ts'
import type { Person } from './row-rules.ts'

/** The site's own templates, so that every server answers with the same page. */
export const templates = join(import.meta.dirname, '../../views')

export const eta = new Eta({ views: templates, cache: true, autoEscape: true })

const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })
const full = (moment: Date) => `${format.format(moment)} UTC`
const quoted = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)
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
  return eta.render('./account', accountView(user))
}

/** The page of a visitor. */
export function loginPage(): string {
  return eta.render('./login', loginView())
}
