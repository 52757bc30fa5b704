import { DriverException } from '@mikro-orm/core'
import { type DestinationStream, type Logger, pino } from 'pino'

export type { Logger }

/** Creates a log of JSON lines with times in UTC, by default on the standard output. */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const timestamp = pino.stdTimeFunctions.isoTime
  const options = { level, base: null, timestamp, hooks: { streamWrite: sanitizeLine } }
  return destination ? pino(options, destination) : pino(options)
}

/** The loggable part of an error. Omits the message and the stack of a database error, because they contain SQL with values. */
export function loggable(error: unknown): object {
  if (!(error instanceof Error)) return { error: typeof error }
  const code = 'code' in error ? error.code : undefined
  const cause = error.cause ? loggable(error.cause) : undefined
  if (error instanceof DriverException) return { error: error.name, code, cause }
  return { error: error.name, code, stack: error.stack, cause }
}

// Opaque tokens and JWTs, also percent-encoded as in a path. `word` matches no dot (`%2E`), because dots separate the parts
// of a JWT.
const word = '(?:[\\w-]|%(?:2[\\dA-DFa-df]|[3-7][\\dA-Fa-f]))+'
const dot = orEscaped('.')
const token = new RegExp(
  `${orEscaped('kauth_')}${word}|${orEscaped('eyJ')}${word}${dot}${word}${dot}(?:${word})?`,
  'g',
)
// JSON need not escape these characters. Some of them end a line, reverse text or control a terminal.
const unprintable = /[\u007f-\uffff]/g
// Testing once is faster than replacing twice, and most lines need no replacement.
const suspicious = /[%\u007f-\uffff]|kauth_|eyJ/

/** Replaces tokens in a log line, and escapes DEL and characters outside of ASCII as in JSON. */
export function sanitizeLine(line: string): string {
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

/** Makes one line of at most `maxLength` characters, without control and format characters. */
export function printable(text: string, maxLength: number): string {
  const line = text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
  // The cut may split a surrogate pair.
  return line.slice(0, maxLength).toWellFormed()
}
