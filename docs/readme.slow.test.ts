import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { freePort, startProgram } from '../examples/testing/program.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')

describe('README.md', () => {
  test('has a program that responds as it says', async (t) => {
    const [, program = ''] = /^```js\n(.*?)^```$/ms.exec(readme) ?? []
    const [, command = '', output = ''] = /^ {4}\$ (curl .*)\n {4}(.*)$/m.exec(readme) ?? []
    const folder = await mkdtemp(join(tmpdir(), 'koa-authenticators-'))
    t.after(() => rm(folder, { recursive: true }))
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    await writeFile(join(folder, 'program.mjs'), program)
    const { url, stop } = await startProgram([
      '--conditions=@koa-authenticators/source',
      ...freePort,
      join(folder, 'program.mjs'),
    ])
    t.after(stop)

    const local = command.replace('localhost:3000', new URL(url).host)
    assert.equal((await run('sh', ['-c', local])).stdout, output)
    const refused = await fetch(url)
    assert.equal(refused.status, 401)
    assert.match(refused.headers.get('www-authenticate') ?? '', /^Bearer /)
  })

  test('shows parts of an example', () => {
    const examples = globSync('examples/*.ts', { cwd: root }).map((name) => readFileSync(join(root, name), 'utf8'))
    const parts = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code)
    assert.equal(parts.length, 2)
    for (const part of parts) assert.ok(examples.some((source) => source.includes(part)), part)
  })

  test('is short', () => {
    assert.ok(readme.split('\n').length <= 160)
    assert.ok(readme.split(/\s+/).length <= 1000)
  })
})
