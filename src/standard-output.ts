import { constants, fstatSync, openSync, writeSync } from 'node:fs'

// Characters that are tried again.
const mostUnwritten = 1_000_000
// What is written to a pipe at once is not torn apart by what other processes write there (POSIX, `PIPE_BUF`).
const mostAtOnce = 4096
// Milliseconds until it is tried again: the longer nothing is taken, the more.
const shortestPause = 10
const longestPause = 500
// Milliseconds that the end of the process waits for a reader.
const patience = 2_000

/**
 * The standard output, for whoever must not wait for its reader. The lines of one turn of the event loop are written
 * together at its end: one write for many. What cannot be written, because a reader stalls, a terminal is gone or a disk
 * is full, is tried again, and dropped when there is too much of it.
 */
export class StandardOutput {
  readonly #file = openWithoutWaiting()
  readonly #unwritten: string[] = []
  #length = 0
  #turn = ''
  // None while everything is taken.
  #pause = 0

  constructor() {
    process.on('exit', () => this.flushSync())
  }

  /** @param line in ASCII, with its end: as many bytes as characters */
  write(line: string): void {
    if (this.#turn.length + line.length > mostAtOnce) this.#endTurn()
    if (this.#turn === '') setImmediate(() => this.#endTurn())
    this.#turn += line
  }

  /** Writes all that there is, for a process that ends: it waits for a reader who takes it, but not for long. */
  flushSync(): void {
    this.#keepTurn()
    const end = performance.now() + patience
    while (this.#writeUnwritten() === 'EAGAIN' && performance.now() < end) sleepSync(shortestPause)
  }

  #endTurn(): void {
    this.#keepTurn()
    if (this.#pause === 0) this.#tryToWrite()
  }

  #keepTurn(): void {
    const lines = this.#turn
    this.#turn = ''
    if (lines === '' || this.#length + lines.length > mostUnwritten) return
    this.#unwritten.push(lines)
    this.#length += lines.length
  }

  #tryToWrite(): void {
    const before = this.#length
    if (this.#writeUnwritten() === undefined) {
      this.#pause = 0
      return
    }
    this.#pause =
      this.#length < before ? shortestPause : Math.min(2 * this.#pause || shortestPause, longestPause)
    setTimeout(() => this.#tryToWrite(), this.#pause).unref()
  }

  /** Writes as much as is taken now. What hinders the rest, if anything does. */
  #writeUnwritten(): string | undefined {
    try {
      for (let [lines] = this.#unwritten; lines !== undefined; [lines] = this.#unwritten) {
        const written = writeSync(this.#file, lines)
        this.#length -= written
        if (written === lines.length) this.#unwritten.shift()
        else this.#unwritten[0] = lines.slice(written)
      }
      return undefined
    } catch (error) {
      return (error as NodeJS.ErrnoException).code
    }
  }
}

/**
 * A descriptor of the standard output that takes what it can at once, and no more. A pipe or a terminal is opened anew
 * for it: the one that was inherited is shared with others, who may rely on waiting. A file keeps nobody waiting, and
 * opened anew would be written from its beginning.
 */
function openWithoutWaiting(): number {
  const inherited = 1
  const file = fstatSync(inherited)
  if (file.isFile()) return inherited
  try {
    return openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    // A socket, say, or another system than Linux. Whoever asks Node for it has it wait for nobody from then on.
    return process.stdout.fd
  }
}

function sleepSync(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}
