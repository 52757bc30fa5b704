import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { freePort, startProgram } from './testing/program.ts'

const run = promisify(execFile)
const folder = import.meta.dirname
const files = await readdir(folder)
const examples = files.filter((file) => /^[\w-]+\.ts$/.test(file) && !file.startsWith('readme'))
const hasCurl = spawnSync('curl', ['--version']).status === 0

describe('the curl commands at the top of each example', { skip: !hasCurl && 'curl is missing' }, () => {
  for (const name of examples)
    test(`${name}: work as pasted, with the documented output`, async (t) => {
      const [howToRun, ...lines] = linesOf(await readFile(join(folder, name), 'utf8'))
      assert.equal(howToRun?.command, `npm run example examples/${name}`)
      assert.ok(lines.some(({ answer }) => answer !== undefined))
      const cookies = await mkdtemp(join(tmpdir(), 'koa-authenticators-'))
      t.after(() => rm(cookies, { recursive: true }))
      const program = await startProgram(
        ['--conditions=@koa-authenticators/source', ...freePort, join(folder, name)],
        { DATABASE: ':memory:' },
      )
      t.after(() => program.stop())
      const host = new URL(program.url).host

      // Separates the outputs of the commands.
      const pasted = lines.map(({ command }) => `${command}\nprintf '\\n%s\\n' ----`).join('\n')
      const script = pasted.replaceAll('localhost:3000', host).replaceAll('/tmp/', `${cookies}/`)
      const { stdout } = await run('sh', ['-c', script])

      const answers = stdout.split('\n----\n')
      for (const [index, { command, answer = '' }] of lines.entries())
        assert.ok(answers[index]?.includes(answer), `${command}\n${answers[index]}`)
    })
})

/** The indented lines of the comment that opens a file: `command   # a part of the output`. */
function linesOf(source: string): { command: string; answer: string | undefined }[] {
  const [comment = ''] = source.split('\n\n', 1)
  return [...comment.matchAll(/^\/\/ {3}(.+)$/gm)].map(([, line = '']) => {
    const [command = '', answer] = line.split(/ +# /)
    return { command, answer }
  })
}
