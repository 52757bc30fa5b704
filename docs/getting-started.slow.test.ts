import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { freePort, startProgram } from '../examples/testing/program.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const page = await readFile(join(import.meta.dirname, 'getting-started.md'), 'utf8')
const [users = '', app = '', moreUsers = '', moreApp = ''] = blocks('js')
const [formLines = '', tokenLines = ''] = blocks('sh')

describe('docs/getting-started.md', () => {
  test('has a site and curl commands with the documented output', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'koa-authenticators-'))
    t.after(() => rm(folder, { recursive: true }))
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')

    await writeFile(join(folder, 'users.js'), users)
    await writeFile(join(folder, 'app.js'), app)
    await tryLines(folder, formLines)

    const store = '// Replace this with a table'
    assert.equal(app.split(store).length, 2)
    await writeFile(join(folder, 'users.js'), users + moreUsers)
    await writeFile(join(folder, 'app.js'), app.replace(store, `${moreApp}\n${store}`))
    await tryLines(folder, formLines + tokenLines)
  })
})

/** The code blocks of the page in one language. */
function blocks(language: string): string[] {
  return [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, name, code = '']) =>
    name === language ? [code] : [],
  )
}

/** Runs the program, and then each line. A line is a command, ` # ` and a part of the response. */
async function tryLines(folder: string, lines: string): Promise<void> {
  const source = '--conditions=@koa-authenticators/source'
  const program = await startProgram([source, ...freePort, join(folder, 'app.js')])
  try {
    for (const line of lines.trim().split('\n')) {
      const [command = '', response = ''] = line.split(/ +# /)
      assert.notEqual(response, '', line)
      const local = command.replace('localhost:3000', new URL(program.url).host)
      const { stdout } = await run('sh', ['-c', local], { cwd: folder })
      assert.ok(stdout.includes(response), `${line}\n${stdout}`)
    }
  } finally {
    const { errors } = await program.stop()
    assert.equal(errors, '', 'no warning and no error')
  }
}
