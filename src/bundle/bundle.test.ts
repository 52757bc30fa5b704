import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rename, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { home } from '../home.ts'
import { startServer, temporaryFolder } from '../testing/server-process.ts'

type Test = Parameters<typeof temporaryFolder>[0]

// What `/healthz` says, in the bundle and in its source.
const inBundle = /isWell \? "\w+"/
const inSource = /isWell \? '\w+'/

test('a server starts from its bundle, and from its source as soon as anything of that has changed', async (t) => {
  const site = await copyOfTheSite(t)
  assert.equal(await answer(t, site), 'ok', 'from its source, before there is a bundle')

  await compile(site)
  await replace(bundleOf(site), inBundle, 'isWell ? "bundled"')
  assert.equal(await answer(t, site), 'bundled')
  assert.equal(await answer(t, site, { WORKERS: '2' }), 'bundled', 'and so do workers')

  const moved = await temporaryFolder(t)
  await rename(site, moved)
  assert.equal(await answer(t, moved), 'bundled', 'wherever it is moved')

  await replace(join(moved, 'src'), inSource, "isWell ? 'changed'")
  assert.equal(await answer(t, moved), 'changed')

  await compile(moved)
  await replace(bundleOf(moved), inBundle, 'isWell ? "again"')
  assert.equal(await answer(t, moved), 'again', 'from a bundle of what was changed')

  const later = Date.now() / 1000 + 3600
  await utimes(join(moved, 'src/serving.ts'), later, later)
  await compile(moved)
  await replace(bundleOf(moved), inBundle, 'isWell ? "stale"')
  assert.equal(await answer(t, moved), 'changed', 'from no bundle that something may have changed under')
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

function bundleOf(site: string): string {
  return join(site, 'node_modules/.cache/site')
}

async function compile(site: string): Promise<void> {
  const env = { PATH: process.env.PATH, TMPDIR: site }
  await promisify(execFile)(process.execPath, ['src/start.js', 'compile'], { cwd: site, env })
}

/** What a server says of itself, started and stopped again. */
async function answer(t: Test, site: string, variables: Record<string, string> = {}): Promise<string> {
  const DATA_DIR = await temporaryFolder(t)
  const { url, child, ended } = await startServer(t, { DATA_DIR, DRAIN_SECONDS: '0', ...variables }, { site })
  const text = await fetch(`${url}/healthz`).then((response) => response.text())
  child.kill('SIGINT')
  await ended
  return text
}

async function replace(folder: string, text: RegExp, other: string): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) {
    if (!/\.(js|ts)$/.test(name) || name.endsWith('.test.ts')) continue
    const file = join(folder, name)
    const before = await readFile(file, 'utf8')
    if (text.test(before)) await writeFile(file, before.replace(text, other))
  }
}
