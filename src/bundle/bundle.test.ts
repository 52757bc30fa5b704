import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { home } from '../home.ts'
import { temporaryFolder } from '../testing/server-process.ts'

type Test = Parameters<typeof temporaryFolder>[0]

test('a server starts from its bundle, and from its source as soon as anything of that has changed', async (t) => {
  const site = await copyOfTheSite(t)
  assert.equal(await greeting(t, site), 'listening', 'from its source, before there is a bundle')

  await run(t, site, 'compile').ended
  await replace(join(site, 'node_modules/.cache/site'), /}, "listening"/, '}, "listening, bundled"')
  assert.equal(await greeting(t, site), 'listening, bundled')
  assert.equal(await greeting(t, site, { WORKERS: '2' }), 'listening, bundled', 'and so do workers')

  const moved = await temporaryFolder(t)
  await rename(site, moved)
  assert.equal(await greeting(t, moved), 'listening, bundled', 'wherever it is moved')

  await replace(join(moved, 'src'), /}, 'listening'/, "}, 'listening, changed'")
  assert.equal(await greeting(t, moved), 'listening, changed')

  await run(t, moved, 'compile').ended
  assert.equal(await greeting(t, moved), 'listening, changed', 'from a bundle of what was changed')
})

/** Code of its own beside everything that is installed here. */
async function copyOfTheSite(t: Test): Promise<string> {
  const site = await temporaryFolder(t)
  for (const name of ['package.json', 'src', 'views', 'public']) {
    await cp(join(home, name), join(site, name), { recursive: true })
  }
  const installed = join(home, 'node_modules')
  await mkdir(join(site, 'node_modules'))
  for (const name of await readdir(installed)) {
    if (name !== '.cache') await symlink(join(installed, name), join(site, 'node_modules', name))
  }
  return site
}

/** What a server says once it listens, which is stopped then. */
async function greeting(t: Test, site: string, variables: Record<string, string> = {}): Promise<string> {
  const { child, ended } = run(t, site, 'server', {
    DATA_DIR: join(site, 'data'),
    PORT: '0',
    DRAIN_SECONDS: '0',
    ...variables,
  })
  const lines = createInterface(child.stdout)
  const said = await new Promise<string>((resolve) => {
    lines.on('line', (line) => {
      const { msg } = JSON.parse(line)
      if (/^listening/.test(msg)) resolve(msg)
    })
  })
  child.kill('SIGINT')
  await ended
  return said
}

function run(t: Test, site: string, program: string, variables: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['src/start.js', program], {
    cwd: site,
    env: { PATH: process.env.PATH, TMPDIR: site, ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { child, ended }
}

async function replace(folder: string, text: RegExp, other: string): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) {
    if (!/\.(js|ts)$/.test(name) || name.endsWith('.test.ts')) continue
    const file = join(folder, name)
    const before = await readFile(file, 'utf8')
    if (text.test(before)) await writeFile(file, before.replaceAll(new RegExp(text, 'g'), other))
  }
}
