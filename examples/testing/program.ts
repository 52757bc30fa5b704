import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

/** A program that serves HTTP in a separate process. */
export interface Program {
  readonly url: string
  /** Stops the program, and returns its output. */
  stop(): Promise<{ readonly output: string; readonly errors: string }>
}

// Without a cache, compiling takes a third of the start time of a small program.
const compileCache = join(import.meta.dirname, '../../node_modules/.cache/tests')

/** Makes a program listen on a free port instead of 3000. */
export const freePort = ['--import', import.meta.resolve('./free-port.ts')]

/** Starts a program and waits until it has printed its URL. It inherits no environment variables. */
export async function startProgram(
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<Program> {
  const env = { NODE_COMPILE_CACHE: compileCache, ...environment }
  const child = spawn(process.execPath, args, { env, stdio: 'pipe' })
  let output = ''
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    errors += chunk
  })
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      output += chunk
      const [url] = /^http:\/\/localhost:\d+$/m.exec(output) ?? []
      if (url) resolve(url)
    })
    child.once('error', reject)
    child.once('close', () => reject(new Error(`${args.at(-1)} ended before it printed its URL: ${errors}`)))
  })
  return {
    url,
    async stop() {
      child.kill()
      await once(child, 'close')
      return { output, errors }
    },
  }
}

const withCurl = { skip: spawnSync('curl', ['--version']).status !== 0 && 'this machine has no curl' }

/** Runs an example during the tests of a `describe`. The first test runs the curl commands at the top of the example. */
export function example(
  name: string,
  { environment, args = [] }: { environment?: Record<string, string>; args?: readonly string[] } = {},
): { readonly url: string } {
  const path = join(import.meta.dirname, '..', name)
  let program: Program | undefined
  const running = {
    get url() {
      assert.ok(program, 'the example did not start')
      return program.url
    },
  }
  before(async () => {
    const options = ['--conditions=@koa-authenticators/source', ...freePort, ...args]
    program = await startProgram([...options, path], { DATABASE: ':memory:', ...environment })
  })
  after(async () => {
    const { output = '', errors = '' } = (await program?.stop()) ?? {}
    assert.match(output, /^http:\/\/localhost:\d+\n$/, 'one line, with the URL')
    assert.equal(errors, '', 'no warning and no error')
  })
  test('responds to the curl commands at its top with the documented output', withCurl, async () => {
    const [howToRun, ...lines] = curlLinesOf(await readFile(path, 'utf8'))
    assert.equal(howToRun?.command, `npm run example examples/${name}`)
    assert.ok(lines.some(({ answer }) => answer !== undefined))

    await paste(lines, new URL(running.url).host)
  })
  return running
}

interface CurlLine {
  readonly command: string
  /** A part of the output. */
  readonly answer: string | undefined
}

/** The indented lines of the comment at the top of a file: `command   # a part of the output`. */
function curlLinesOf(source: string): CurlLine[] {
  const [comment = ''] = source.split('\n\n', 1)
  return [...comment.matchAll(/^\/\/ {3}(.+)$/gm)].map(([, line = '']) => {
    const [command = '', answer] = line.split(/ +# /)
    return { command, answer }
  })
}

/** Runs the commands in one shell, with `host` for localhost:3000 and a new folder for /tmp. Compares their outputs. */
async function paste(lines: readonly CurlLine[], host: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'koa-authenticators-'))
  // Separates the outputs of the commands.
  const pasted = lines.map(({ command }) => `${command}\nprintf '\\n%s\\n' ----`).join('\n')
  const script = pasted.replaceAll('localhost:3000', host).replaceAll('/tmp/', `${folder}/`)
  const { stdout } = await promisify(execFile)('sh', ['-c', script]).finally(() =>
    rm(folder, { recursive: true }),
  )
  const outputs = stdout.split('\n----\n')
  for (const [index, { command, answer = '' }] of lines.entries())
    assert.ok(outputs[index]?.includes(answer), `${command}\n${outputs[index]}`)
}
