import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Eta } from 'eta'
import { ago, day, full, initials, quoted } from '../../src/site/wording.ts'
import { publicUrl as origin } from '../data.ts'
import type { Person } from './row-rules.ts'

/** The folder of the site's templates. All servers with pages render them with Eta, so the pages are equal. */
export const templates = join(import.meta.dirname, '../../views')

const eta = new Eta({ cache: true, autoEscape: true })
for (const file of readdirSync(templates, { recursive: true, encoding: 'utf8' }))
  if (file.endsWith('.eta')) eta.loadTemplate(nameOf(file), readFileSync(join(templates, file), 'utf8'))

// The version of the static files, which is part of their URLs. Only the site computes it.
const version = '0000000000'
const common = { site: 'koa-authenticators', version, errorAt: () => undefined, full, day, ago, quoted }

export function accountView({ id, name, email, passwordChangedAt }: Person) {
  // The users of the benchmark have never changed their password.
  const createdAt = new Date(passwordChangedAt)
  const avatar = { initials: initials(name), tone: Number.parseInt(id.slice(-4), 16) % 6 }
  return { ...common, origin, user: { name, email }, avatar, createdAt, passwordChangedAt: createdAt }
}

export function loginView() {
  return { ...common, origin }
}

export function accountPage(user: Person): string {
  return rendered('profile.eta', accountView(user))
}

export function loginPage(): string {
  return rendered('sign-in.eta', loginView())
}

/** Whether the page of a server is the expected page, apart from the version of the static files. */
export function isPage(text: string, expected: string): boolean {
  return text.replace(/\?v=[\w-]{10}/g, `?v=${version}`) === expected
}

/** Renders a template. `file` is its path below the folder of templates. */
export function rendered(file: string, view: object): string {
  return eta.render(nameOf(file), view)
}

// The templates include one another by these names: `@partials/field`.
function nameOf(file: string): string {
  return `@${file.slice(0, -'.eta'.length)}`
}
