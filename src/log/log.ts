import { DriverException } from '@mikro-orm/core'
import { type DestinationStream, type Logger, pino } from 'pino'
import { standardOutput } from './standard-output.ts'

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

/** The loggable part of an error. The message of a driver is left out, because it holds the statement with its values. */
export function loggable(error: unknown): object {
  if (!(error instanceof Error)) return { error: typeof error }
  const code = 'code' in error ? error.code : undefined
  const cause = error.cause ? loggable(error.cause) : undefined
  if (error instanceof DriverException) return { error: error.name, code, cause }
  return { error: error.name, code, stack: error.stack, cause }
}

// Opaque tokens and JWT, also percent-encoded as in a path. A word has no dot (`%2E`), which separates the parts of a JWT.
const word = '(?:[\\w-]|%(?:2[\\dA-DFa-df]|[3-7][\\dA-Fa-f]))+'
const dot = orEscaped('.')
const token = new RegExp(
  `${orEscaped('kauth_')}${word}|${orEscaped('eyJ')}${word}${dot}${word}${dot}(?:${word})?`,
  'g',
)
// JSON does not escape these, and some end a line, reverse text or command a terminal.
const unprintable = /[\u007f-\uffff]/g
// One test is faster than two replacements, and most lines need neither.
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
