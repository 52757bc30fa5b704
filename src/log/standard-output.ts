import { constants, fstatSync, openSync } from 'node:fs'
import { type DestinationStream, pino } from 'pino'

const options = {
  // Without it, sonic-boom has no `flush`.
  minLength: 1,
  // Bytes that wait for a reader that stalls. Lines beyond are dropped.
  maxLength: 1_000_000,
  // A pipe keeps a write of this size in one piece (POSIX, `PIPE_BUF`), so lines of several processes stay whole.
  maxWrite: 4096,
  // sonic-boom would sleep, and the event loop with it. As an error, a full pipe is retried by a timer.
  retryEAGAIN: () => false,
}
// Milliseconds.
const retryPause = 100
const longestExit = 2_000

/**
 * The standard output for the log. A reader that stalls or a disk that is full blocks no request: the lines wait, up to a
 * megabyte, and are written once there is room. The end of the process waits two seconds for that.
 */
export function standardOutput(): DestinationStream & { flushSync(): void } {
  const output = pino.destination({ ...options, dest: openNonBlocking(), sync: true })
  let isRetrying = false
  let problem: string | undefined
  // The listener of pino ends the log at the first EPIPE, but a pipe can get another reader.
  output.removeAllListeners('error')
  output.on('error', ({ code }: NodeJS.ErrnoException) => {
    problem = code
    if (isRetrying) return
    isRetrying = true
    setTimeout(() => {
      isRetrying = false
      output.flush()
    }, retryPause).unref()
  })
  // One system call for the lines of an event-loop turn.
  let lines = ''
  let turn: NodeJS.Immediate | undefined
  const writeLines = () => {
    clearImmediate(turn)
    turn = undefined
    if (lines) output.write(lines)
    lines = ''
  }
  process.on('exit', () => {
    writeLines()
    const end = performance.now() + longestExit
    do {
      if (problem) sleepSync(retryPause)
      problem = undefined
      output.flush()
    } while (problem === 'EAGAIN' && performance.now() < end)
  })
  // Not sonic-boom's own `flushSync`: on a full disk, that never returns.
  return {
    write(line) {
      // `harmless` has escaped all but ASCII, so characters are bytes.
      if (lines.length + line.length > options.maxWrite) writeLines()
      lines += line
      turn ??= setImmediate(writeLines)
    },
    // pino calls it at the level `fatal`.
    flushSync: writeLines,
  }
}

/**
 * A descriptor of the standard output for writes that do not block. A pipe or a terminal is opened again, because other
 * processes share the inherited one. A file does not block, and would be written from its beginning.
 */
function openNonBlocking(): number {
  const inherited = 1
  if (fstatSync(inherited).isFile()) return inherited
  try {
    return openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    // A socket, or not Linux. Node makes the descriptor non-blocking when `process.stdout` is first used.
    return process.stdout.fd
  }
}

function sleepSync(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}
