import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Eta } from 'eta'
import type { Config } from '../config/config.ts'
import { root } from '../config/root.ts'
import { printable } from '../log/log.ts'
import { full } from '../site/wording.ts'
import type { Mails } from './message.ts'

const folder = join(root, 'views/mail')

/** The data of every mail, in addition to the data of its kind. */
interface MailView {
  readonly subject: string
  /** The origin of the site, such as `https://example.com`. */
  readonly origin: string
  /** The address of the recipient. */
  readonly to: string
  readonly link?: Link | undefined
}

export interface Link {
  readonly url: string
  /** How long the link works, in milliseconds. */
  readonly lifetime: number
  /** The recipient's address as the account spells it. By default, the address of the mail. */
  readonly to?: string
}

// As in public/style.css.
const defaultAccent = { light: '#0b6a4e', dark: '#5fd0a5' }

/** The texts of mails. All templates are read at the start. */
export class MailTemplates {
  readonly #site: { readonly site: string; readonly support: string | undefined; readonly accent: object }
  readonly #html = readTemplates('.html.eta', { autoEscape: true })
  readonly #text = readTemplates('.txt.eta', { autoEscape: false, autoTrim: false })

  constructor({ siteName, supportUrl, brandColor }: Pick<Config, 'siteName' | 'supportUrl' | 'brandColor'>) {
    this.#site = { site: siteName, support: supportUrl, accent: brandColor ?? defaultAccent }
  }

  render(kind: keyof Mails, data: object, view: MailView) {
    const subject = `${view.subject} at ${this.#site.site}`
    const lifetime = view.link && inWords(view.link.lifetime)
    const texts = { subject, heading: view.subject, url: view.link?.url, lifetime, full }
    const values = { ...oneLineEach(data), ...this.#site, ...view, ...texts }
    const text = this.#text.render(`@${kind}`, values)
    const html = this.#html.render(`@${kind}`, values)
    // Eta leaves an empty line for each line that contains only a statement.
    return { subject, html, text: `${text.replace(/\n\s*\n/g, '\n\n').trim()}\n` }
  }
}

function readTemplates(suffix: string, options: ConstructorParameters<typeof Eta>[0]): Eta {
  const eta = new Eta({ cache: true, ...options })
  for (const file of readdirSync(folder)) {
    const name = `@${file.slice(0, -suffix.length)}`
    if (file.endsWith(suffix)) eta.loadTemplate(name, readFileSync(join(folder, file), 'utf8'))
  }
  return eta
}

/** Removes line breaks and control characters, which could forge a part of a mail, and values without content. */
function oneLineEach(data: object): object {
  const entries = Object.entries(data).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(entries.map(([name, value]) => [name, printable(String(value), 255)]))
}

/** A number of whole hours or days, such as `one hour` or `3 days`. */
function inWords(lifetime: number): string {
  const hours = Math.round(lifetime / 3_600_000)
  if (hours === 1) return 'one hour'
  return hours > 24 && hours % 24 === 0 ? `${hours / 24} days` : `${hours} hours`
}
