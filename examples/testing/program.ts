import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before } from 'node:test'

/** A program that serves HTTP in a separate process. */
export interface Program {
  readonly url: string
  /** Stops the program, and returns its output. */
  stop(): Promise<{ readonly output: string; readonly errors: string }>
}

// Without a cache, compiling takes a third of the start time of a small program.
const compileCache = join(import.meta.dirname, '../../node_modules/.cache/tests')

/** Makes a program listen on a free port instead of 3000. */
export const freePort = ['--import', join(import.meta.dirname, 'free-port.ts')]

/** Starts a program and waits until it has printed its URL. It inherits no environment variables. */
export async function startProgram(
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<Program> {
  const env = { PORT: '0', NODE_COMPILE_CACHE: compileCache, ...environment }
  const child = spawn(process.execPath, args, { env, stdio: 'pipe' })
  let output = ''
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    errors += chunk
  })
  const timeout = setTimeout(() => child.kill(), 30_000)
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      output += chunk
      const [url] = /^http:\/\/localhost:\d+$/m.exec(output) ?? []
      if (url) resolve(url)
    })
    child.once('error', reject)
    child.once('close', () => reject(new Error(`${args.at(-1)} ended before it printed its URL: ${errors}`)))
  }).finally(() => clearTimeout(timeout))
  return {
    url,
    async stop() {
      child.kill()
      await once(child, 'close')
      return { output, errors }
    },
  }
}

/** Runs an example during the tests of a `describe`, as `npm run example` does. */
export function example(
  name: string,
  { environment, args = [] }: { environment?: Record<string, string>; args?: readonly string[] } = {},
): { readonly url: string } {
  const path = join(import.meta.dirname, '..', name)
  let program: Program | undefined
  before(async () => {
    program = await startProgram(['--conditions=@koa-authenticators/source', ...args, path], environment)
  })
  after(async () => {
    const { output = '', errors = '' } = (await program?.stop()) ?? {}
    assert.match(output, /^http:\/\/localhost:\d+\n$/, 'one line, with the URL')
    assert.equal(errors, '', 'no warning and no error')
  })
  return {
    get url() {
      assert.ok(program, 'the example did not start')
      return program.url
    },
  }
}
