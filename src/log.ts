import { DriverException } from '@mikro-orm/core'
import { type Logger, pino } from 'pino'

export type { Logger }

// Characters that are tried again.
const mostUnwritten = 1_000_000
// What is written to a pipe at once is not torn apart by what other processes write there (POSIX, `PIPE_BUF`).
const mostAtOnce = 4096

/** The log: JSON lines on the standard output, or where a test wants them; times in UTC. */
export function createLog(level: string, destination?: NodeJS.WritableStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { streamWrite: harmless },
  }
  return pino(options, destination ?? standardOutput())
}

/**
 * The lines of one turn of the event loop are written together at its end: one write for many. What cannot be written, to
 * a full disk or to a terminal that is gone, is dropped in the end: nobody waits for it.
 */
function standardOutput(): { write(line: string): void; flushSync(): void } {
  const output = pino.destination({ fd: 1, sync: true, maxLength: mostUnwritten })
  // There is nobody to tell.
  output.on('error', () => {})
  let lines = ''
  // Not that of pino: it would not come back as long as nothing can be written.
  const flushSync = () => {
    const all = lines
    lines = ''
    if (all !== '') output.write(all)
  }
  process.on('exit', flushSync)
  return {
    write(line) {
      // A line is ASCII by now: as many bytes as characters.
      if (lines.length + line.length > mostAtOnce) flushSync()
      if (lines === '') setImmediate(flushSync)
      lines += line
    },
    flushSync,
  }
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

/** The same line for whoever parses it, without tokens; and for whoever reads it, nothing but printable ASCII. */
function harmless(line: string): string {
  const withoutTokens = mayHoldToken(line) ? line.replace(token, '(token)') : line
  return withoutTokens.replace(unprintable, escaped)
}

// Sooner found out than what exactly is one.
function mayHoldToken(line: string): boolean {
  return line.includes('kauth_') || line.includes('eyJ') || line.includes('%')
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
