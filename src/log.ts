import { DriverException } from '@mikro-orm/core'
import { type DestinationStream, type Logger, pino } from 'pino'
import { standardOutput } from './log/standard-output.ts'

export type { Logger }

/** The log: JSON lines with times in UTC, on the standard output unless there is another destination. */
export function createLog(level: string, destination: DestinationStream = standardOutput()): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { streamWrite: harmless },
  }
  return pino(options, destination)
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

/** Removes tokens from a line, and escapes characters outside of ASCII as JSON does. A parser reads the same values. */
export function harmless(line: string): string {
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
