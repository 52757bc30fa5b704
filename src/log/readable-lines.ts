import type { LogDescriptor } from 'pino'
import { developmentUrl } from '../config/public-url.ts'
import { sanitizeLine } from './log.ts'

/**
 * Formats log entries for a terminal: one line each, with the stack of an error below. Escapes control characters, so that
 * text from a client cannot forge a line or control the terminal.
 */
export async function readableLines(): Promise<(line: string) => string> {
  // A development dependency. `npm ci --omit=dev` leaves it out, and lines then stay JSON.
  const pretty = await import('pino-pretty').catch(() => undefined)
  if (!pretty) return (line) => line

  const format = pretty.prettyFactory({
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
    // pino-pretty does not escape the field `name`.
    ignore: 'hostname,name',
    messageFormat: ({ msg }: LogDescriptor) => printable(`${msg}`, /\p{Cc}/gu),
    errorLikeObjectKeys: ['stack'],
    customPrettifiers: { stack: (stack) => printable(String(stack), /[^\P{Cc}\n]/gu) },
  })
  return (line) => sanitizeLine(format(readable(JSON.parse(line))))
}

/** Puts the values of the most frequent entries into the message, and removes values that only programs need. */
function readable({ request, userAgent, ...entry }: LogDescriptor): LogDescriptor {
  const { msg, url, method, path, status, ms, address, ...others } = entry
  if (msg === 'authentication') {
    const { event, outcome, ...values } = entry
    return { ...values, msg: event }
  }
  if (msg === 'request') return { ...others, msg: `${method} ${path} ${status} in ${ms} ms` }
  if (msg === 'listening') return { ...others, msg: `Listening on ${developmentUrl(url)}` }
  return entry
}

function printable(text: string, controls: RegExp): string {
  return text.replace(controls, (control) => JSON.stringify(control).slice(1, -1))
}
