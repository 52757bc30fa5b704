import type { LogDescriptor } from 'pino'
import { harmless } from './log.ts'

/**
 * Formats log entries for a terminal: one line each, with the stack of an error below. Escapes control characters, so that
 * text from a client cannot forge a line or control the terminal.
 */
export async function readableLines(): Promise<(line: string) => string> {
  // A development dependency: `npm ci --omit=dev` leaves it out.
  const pretty = await import('pino-pretty').catch(() => undefined)
  if (!pretty) return (line) => line

  const format = pretty.prettyFactory({
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
    // pino-pretty does not escape a name, and the URL is part of the message.
    ignore: 'hostname,name,url',
    messageFormat: ({ msg, url }: LogDescriptor) => printable(url ? `${msg}: ${url}` : `${msg}`, /\p{Cc}/gu),
    errorLikeObjectKeys: ['stack'],
    customPrettifiers: { stack: (stack) => printable(String(stack), /[^\P{Cc}\n]/gu) },
  })
  return (line) => harmless(format(line))
}

function printable(text: string, controls: RegExp): string {
  return text.replace(controls, (control) => JSON.stringify(control).slice(1, -1))
}
