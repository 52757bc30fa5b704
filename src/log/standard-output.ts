import { constants, fstatSync, openSync } from 'node:fs'
import { type DestinationStream, pino } from 'pino'

const options = {
  // Required for sonic-boom's `flush`.
  minLength: 1,
  // Bytes. Lines that would make the buffer longer are dropped.
  maxLength: 1_000_000,
  // Linux writes up to this size to a pipe atomically (`PIPE_BUF`), so shorter lines of several processes do not mix.
  maxWrite: 4096,
  // sonic-boom's own retry would block the event loop. A timer retries instead.
  retryEAGAIN: () => false,
}
// Milliseconds.
const retryPause = 100
const exitTimeout = 2_000

/**
 * The standard output for the log. A stalled reader or a full disk blocks no request, because up to a megabyte of lines is
 * buffered and retried. At its exit, the process waits up to two seconds for a stalled reader.
 */
export function standardOutput(): DestinationStream & { flushSync(): void } {
  const output = pino.destination({ ...options, dest: openNonBlocking(), sync: true })
  let isRetrying = false
  let problem: string | undefined
  // pino's own listener stops the log at the first EPIPE, but a pipe can get another reader.
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
  // Joins the lines of an event-loop turn, for fewer system calls.
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
    const deadline = performance.now() + exitTimeout
    do {
      // Sleeps synchronously, because no timer fires during the exit.
      if (problem) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryPause)
      problem = undefined
      output.flush()
    } while (problem === 'EAGAIN' && performance.now() < deadline)
  })
  return {
    write(line) {
      // `sanitizeLine` has escaped all but ASCII, so each character is one byte.
      if (lines.length + line.length > options.maxWrite) writeLines()
      lines += line
      turn ??= setImmediate(writeLines)
    },
    // pino calls this method at the level `fatal`. It replaces sonic-boom's `flushSync`, which never returns on a full disk.
    flushSync: writeLines,
  }
}

/**
 * Returns a non-blocking descriptor of the standard output. A pipe or a terminal is opened again, because other processes
 * share the inherited descriptor. A file is not opened again, because it never blocks, and a new descriptor would overwrite the
 * beginning of the file.
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
