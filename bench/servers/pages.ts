import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Eta } from 'eta'
import { ago, day, full, quoted } from '../../src/site/wording.ts'
import { publicUrl as origin } from '../data.ts'
import type { Person } from './row-rules.ts'

/** The folder of the site's templates. All servers with pages render them with Eta, so the pages are equal. */
export const templates = join(import.meta.dirname, '../../views')

const eta = new Eta({ cache: true, autoEscape: true })
for (const file of readdirSync(templates, { recursive: true, encoding: 'utf8' }))
  if (file.endsWith('.eta')) eta.loadTemplate(nameOf(file), readFileSync(join(templates, file), 'utf8'))

const common = { site: 'koa-authenticators', version: '', errorAt: () => undefined, full, day, ago, quoted }

export function accountView({ name, email, passwordChangedAt }: Omit<Person, 'id'>) {
  // The users of the benchmark have never changed their password.
  const createdAt = new Date(passwordChangedAt)
  return { ...common, origin, user: { name, email }, createdAt, passwordChangedAt: createdAt }
}

export function loginView() {
  return { ...common, origin }
}

export function accountPage(user: Omit<Person, 'id'>): string {
  return rendered('profile.eta', accountView(user))
}

export function loginPage(): string {
  return rendered('sign-in.eta', loginView())
}

/** Renders a template. `file` is its path below the folder of templates. */
export function rendered(file: string, view: object): string {
  return eta.render(nameOf(file), view)
}

// The templates include one another by these names: `@partials/field`.
function nameOf(file: string): string {
  return `@${file.slice(0, -'.eta'.length)}`
}
