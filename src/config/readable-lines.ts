import type { LogDescriptor } from 'pino'
import { sanitizeLine } from '../log/log.ts'
import { developmentUrl } from './public-url.ts'

/** Formats log entries for a terminal by pino-pretty: one line each, with the stack of an error below. */
export async function readableLines(): Promise<(line: string) => string> {
  // A development dependency. `npm ci --omit=dev` leaves it out, and lines then stay JSON.
  const pretty = await import('pino-pretty').catch(() => undefined)
  if (!pretty) return (line) => line

  const format = pretty.prettyFactory({
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
    // pino-pretty does not escape the field `name`. The others are for programs.
    ignore: 'hostname,name,request,userAgent,outcome,process\\.pid,host\\.name,service\\.version',
    messageFormat: ({ msg }: LogDescriptor) => printable(`${msg}`, /\p{Cc}/gu),
    errorLikeObjectKeys: ['stack'],
    customPrettifiers: { stack: (stack) => printable(String(stack), /[^\P{Cc}\n]/gu) },
  })
  return (line) => sanitizeLine(format(readable(JSON.parse(line))))
}

/** Puts the most important value into the message. */
function readable(entry: LogDescriptor): LogDescriptor {
  const { msg, event, url, ...others } = entry
  if (msg === 'listening') return { ...others, msg: `Listening on ${developmentUrl(url)}` }
  if (msg === 'request') return { time: entry.time, level: entry.level, msg: requestOf(others) }
  return msg === 'authentication' ? { ...others, msg: event } : entry
}

function requestOf(line: LogDescriptor): string {
  const ms = Math.round(line['http.server.request.duration'] * 10_000) / 10
  return `${line['http.request.method']} ${line['url.path']} ${line['http.response.status_code']} (${ms} ms)`
}

// Text from a client must not forge a line or control the terminal.
function printable(text: string, controls: RegExp): string {
  return text.replace(controls, (control) => JSON.stringify(control).slice(1, -1))
}
