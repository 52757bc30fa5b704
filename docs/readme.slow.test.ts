import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { freePort, startProgram } from '../examples/testing/program.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const readme = read('README.md')

describe('README.md', () => {
  test('shows the output of its first program', async (t) => {
    const [, command = '', output = ''] = /^ {4}\$ (curl .*)\n {4}(.*)$/m.exec(readme) ?? []
    const source = '--conditions=@koa-authenticators/source'
    const { url, stop } = await startProgram([source, ...freePort, join(root, 'examples/readme.ts')])
    t.after(stop)

    const { stdout } = await run('sh', ['-c', command.replace('localhost:3000', new URL(url).host)])
    assert.equal(stdout, output)
    assert.equal((await fetch(url)).status, 401)
  })

  test('shows only programs, or parts of programs, from the folder examples, so that they are tested', () => {
    const examples = globSync('examples/*.ts', { cwd: root }).map(read)
    const parts = [...readme.matchAll(/^```[jt]s\n(.*?)^```$/gms)].map(([, code = '']) => code)
    assert.equal(parts.length, 3)
    assert.ok(parts.includes(read('examples/readme.ts')))
    for (const part of parts)
      assert.ok(
        examples.some((source) => source.includes(part)),
        part,
      )
  })
})
