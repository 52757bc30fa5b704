import { DriverException } from '@mikro-orm/core'
import { type Logger, pino } from 'pino'
import { StandardOutput } from './standard-output.ts'

export type { Logger }

/** The log: JSON lines on the standard output, or where a test wants them; times in UTC. */
export function createLog(level: string, destination?: NodeJS.WritableStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: time,
    hooks: { streamWrite: harmless },
  }
  return pino(options, destination ?? new StandardOutput())
}

let millisecond = Number.NaN
let written = ''

// As pino's own `isoTime`, but what lines of one millisecond have in common is found out once.
function time(): string {
  const now = Date.now()
  if (now !== millisecond) {
    millisecond = now
    written = `,"time":"${new Date(now).toISOString()}"`
  }
  return written
}

/** What may be written down of an error. A driver's message has the statement with its values in it. */
export function loggable(error: unknown): object {
  if (!(error instanceof Error)) return { error: typeof error }
  const code = 'code' in error ? error.code : undefined
  const cause = error.cause ? loggable(error.cause) : undefined
  if (error instanceof DriverException) return { error: error.name, code, cause }
  return { error: error.name, code, stack: error.stack, cause }
}

// What has the form of a token of either kind, wherever somebody put it: into a path, say, which may be escaped.
// Not a dot, which is `%2E`.
const word = '(?:[\\w-]|%(?:2[\\dA-DFa-df]|[3-7][\\dA-Fa-f]))+'
const dot = orEscaped('.')
const token = new RegExp(
  `${orEscaped('kauth_')}${word}|${orEscaped('eyJ')}${word}${dot}${word}${dot}(?:${word})?`,
  'g',
)
// What is not ASCII may end a line, turn text around or command a terminal, and JSON lets it stand as it is.
const unprintable = /[\u007f-\uffff]/g
// Sooner found out, for all of that at once, than what exactly is one; and sooner than `replace` finds nothing.
const suspicious = /[%\u007f-\uffff]|kauth_|eyJ/

/** The same line for whoever parses it, without tokens; and for whoever reads it, nothing but printable ASCII. */
function harmless(line: string): string {
  return suspicious.test(line) ? line.replace(token, '(token)').replace(unprintable, escaped) : line
}

function orEscaped(text: string): string {
  return text.replace(/./g, (character) => {
    const [high, low = ''] = character.charCodeAt(0).toString(16)
    return `(?:[${character}]|%${high}[${low}${low.toUpperCase()}])`
  })
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
