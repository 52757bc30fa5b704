import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { until } from '../testing/faults/until.ts'
import { NamedPipe } from '../testing/named-pipe.ts'
import { scaledLimit } from '../testing/scaled-limit.ts'
import { temporaryFolder } from '../testing/server-process.ts'

// Receives a number, logs that many lines, and sends the number of all lines so far. Exits after a 0.
const program = `
  import { pino } from '${import.meta.resolve('pino')}'
  import { standardOutput } from '${import.meta.dirname}/standard-output.ts'
  const log = pino({ base: null }, standardOutput())
  let number = 0
  process.on('SIGXFSZ', () => {})
  process.on('message', (count) => {
    for (const end = number + count; number < end; number += 1)
      log.info({ number, text: 'x'.repeat(number % 500) }, 'line')
    if (count === 0) process.exit()
    setImmediate(() => process.send(number))
  })
  process.on('exit', () => process.send('ended'))`
const node = ['--input-type=module', '--eval', program]

/** A process that logs. Its output stays unread until the test reads it. */
class Logging {
  readonly child: ChildProcess
  readonly #read: () => string
  #text = ''

  constructor(t: TestContext, child: ChildProcess, read: () => string) {
    this.child = child
    this.#read = read
    t.after(() => child.kill('SIGKILL'))
  }

  /** Logs lines. Returns the number of all lines so far. */
  async log(count: number): Promise<number> {
    const done = once(this.child, 'message', {
      signal: AbortSignal.timeout(Math.round(scaledLimit(5) * 1000)),
    })
    this.child.send(count)
    const [logged] = await done
    return logged
  }

  /** A single call logs more than the buffer of a pipe holds, but not enough to drop lines. */
  async logMuch(): Promise<number> {
    for (let turn = 0; turn < 9; turn += 1) await this.log(200)
    return this.log(200)
  }

  /** Lets the process exit, and waits for its exit handlers. */
  async end(): Promise<void> {
    await this.log(0)
  }

  /** The numbers of all lines that can be read now. */
  numbers(): number[] {
    this.#text += this.#read()
    return this.#text
      .slice(0, this.#text.lastIndexOf('\n') + 1)
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).number)
  }

  async hasLogged(count: number): Promise<void> {
    await until(`${count} lines`, () => this.numbers().length >= count)
    assert.deepEqual(this.numbers(), upTo(count))
  }
}

function toPipe(t: TestContext, pipe: NamedPipe): Logging {
  return new Logging(t, spawnTo(openSync(pipe.path, 'w')), () => pipe.read())
}

// Node connects `stdio: 'pipe'` by a socket.
function toSocket(t: TestContext): Logging {
  const child = spawn(process.execPath, node, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  return new Logging(t, child, () => String(child.stdout?.read() ?? ''))
}

// The process `script`, which reads the terminal, is stopped until the test reads.
async function toTerminal(t: TestContext): Promise<Logging> {
  const quoted = [process.execPath, ...node].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  const child = spawn('script', ['--quiet', '--flush', '--command', quoted, '/dev/null'], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const logging = new Logging(t, child, () => {
    child.kill('SIGCONT')
    return String(child.stdout?.read() ?? '')
  })
  // Waits for the first line, so that the terminal exists.
  await logging.log(1)
  child.kill('SIGSTOP')
  return logging
}

function spawnTo(file: number): ChildProcess {
  const child = spawn(process.execPath, node, { stdio: ['ignore', file, 'inherit', 'ipc'] })
  closeSync(file)
  return child
}

async function openPipe(t: TestContext): Promise<NamedPipe> {
  const pipe = new NamedPipe(await temporaryFolder(t))
  t.after(() => pipe.close())
  return pipe
}

const hasTerminals = spawnSync('script', ['--version']).status === 0
const readers = [
  async (t: TestContext) => toPipe(t, await openPipe(t)),
  toSocket,
  ...(hasTerminals ? [toTerminal] : []),
]

describe('standardOutput', {
  concurrency: 3,
  skip: process.platform === 'win32' && 'Windows has no non-blocking output.',
}, () => {
  test('N8 does not block a process if the reader stalls, and delivers every line when the reader continues', async (t) => {
    for (const open of readers) {
      const logging = await open(t)
      await logging.hasLogged(await logging.logMuch())
      await logging.hasLogged(await logging.log(1))
      await logging.logMuch()
      await logging.end()
    }
  })

  test('N8 drops only whole lines while a reader stalls, and no line after the reader has caught up', async (t) => {
    const logging = toPipe(t, await openPipe(t))
    for (let turn = 0; turn < 5; turn += 1) await logging.logMuch()
    await until('the reader has all lines', async () => {
      const count = await logging.log(1)
      return logging.numbers().at(-1) === count - 1
    })
    const numbers = logging.numbers()
    const kept = numbers.findIndex((number, index) => number !== index)
    assert.ok(kept > 3000 && kept < 5000, `${kept} lines`)
    const count = await logging.log(3)
    assert.deepEqual(logging.numbers().slice(-4), upTo(count).slice(-4))
  })

  test('delivers all lines to a slow reader before the process exits', async (t) => {
    const logging = toPipe(t, await openPipe(t))
    const count = await logging.logMuch()
    const ended = logging.end()
    await logging.hasLogged(count)
    await ended
  })

  test('keeps the lines of several processes whole with a stalled reader', async (t) => {
    const pipe = await openPipe(t)
    const all = [1, 2, 3].map(() => toPipe(t, pipe))
    await Promise.all(all.map((each) => each.logMuch()))
    const [one = assert.fail()] = all
    await until('all lines are read', () => one.numbers().length >= 6000)
    assert.deepEqual(
      one.numbers().sort((a, b) => a - b),
      upTo(2000).flatMap((number) => [number, number, number]),
    )
  })

  test('accepts another reader after the first has closed', async (t) => {
    const pipe = await openPipe(t)
    const logging = toPipe(t, pipe)
    await logging.hasLogged(await logging.log(10))
    pipe.close()
    const count = await logging.log(10)
    pipe.open()
    await logging.hasLogged(count)
  })

  test('continues in the middle of a line when a file can grow again, as after a full disk', async (t) => {
    if (process.platform !== 'linux') return t.skip('Only Linux has the command `prlimit`.')
    const path = join(await temporaryFolder(t), 'log')
    const child = spawnTo(openSync(path, 'a'))
    let read = 0
    const logging = new Logging(t, child, () => {
      const text = readFileSync(path, 'latin1').slice(read)
      read += text.length
      return text
    })
    const limit = (bytes: string) => execFileSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}`])
    await logging.log(1)
    limit('4000:unlimited')
    const count = await logging.logMuch()
    assert.equal(statSync(path).size, 4000)
    limit('unlimited:unlimited')
    await logging.hasLogged(count)
  })
})

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, number) => number)
}
