import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { home } from '../home.ts'
import { startServer, temporaryFolder } from '../testing/server-process.ts'
import { type Digests, digestOf } from './bundle.ts'

type Test = Parameters<typeof temporaryFolder>[0]

// What `/healthz` says, in the bundle and in its source.
const inBundle = /isWell \? "\w+"/
const inSource = /isWell \? '\w+'/

test('a server starts from its bundle, and from its source as soon as anything of that has changed', async (t) => {
  const site = await copyOfTheSite(t)
  assert.equal(await answer(t, site), 'ok', 'from its source, before there is a bundle')

  await compile(site)
  await mark(site, 'bundled')
  assert.equal(await answer(t, site), 'bundled')
  assert.equal(await answer(t, site, { WORKERS: '2' }), 'bundled', 'and so do workers')

  const moved = await temporaryFolder(t)
  await rename(site, moved)
  assert.equal(await answer(t, moved), 'bundled', 'wherever it is moved')

  await replace(join(moved, 'src'), inSource, "isWell ? 'no'")
  assert.equal(await answer(t, moved), 'no', 'of the same time and size')

  await compile(moved)
  await mark(moved, 'again')
  assert.equal(await answer(t, moved), 'again', 'from a bundle of what was changed')

  await replace(join(moved, 'package.json'), /"private": true/, '"private":  true')
  assert.equal(await answer(t, moved), 'no', 'where what decides about it has changed')
})

test('a server starts from its source where the bundle is not whole, or not its own', async (t) => {
  const site = await copyOfTheSite(t)
  await compile(site)
  await mark(site, 'bundled')

  const other = await copyOfTheSite(t)
  await rm(join(other, 'node_modules'), { recursive: true })
  await symlink(join(site, 'node_modules'), join(other, 'node_modules'))
  assert.equal(await answer(t, other), 'ok', 'of another site, whose templates it would show')

  await replace(bundleOf(site), inBundle, 'isWell ? "half"')
  assert.equal(await answer(t, site), 'ok', 'made anew by half')

  const digests = join(bundleOf(site), 'digests.json')
  for (const damaged of ['', '{}', '{"src/server.ts":']) {
    await writeFile(digests, damaged)
    assert.equal(await answer(t, site), 'ok', damaged)
  }
})

test('what is installed need not be able to make a bundle', async (t) => {
  const folder = await temporaryFolder(t)
  await cp(join(home, 'package.json'), join(folder, 'package.json'))
  const { stderr } = await promisify(execFile)('npm', ['run', 'prepare'], { cwd: folder })
  assert.match(stderr, /Cannot find module .*start\.js/)
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

/** Has the bundle say that it is one. */
async function mark(site: string, word: string): Promise<void> {
  const file = join(bundleOf(site), 'digests.json')
  const digests: Digests = JSON.parse(await readFile(file, 'utf8'))
  for (const path of await replace(bundleOf(site), inBundle, `isWell ? "${word}"`)) {
    const name = relative(site, path)
    // The others are what is left of an older one.
    if (digests[name]) digests[name] = digestOf(await readFile(path))
  }
  await writeFile(file, JSON.stringify(digests))
}

/** Replaces it in a file, or in those of a folder; their times stay as they were. Returns which they were. */
async function replace(place: string, text: RegExp, other: string): Promise<string[]> {
  const names = place.endsWith('.json') ? [''] : await readdir(place, { recursive: true })
  const replaced: string[] = []
  for (const name of names) {
    const file = join(place, name)
    if (!/\.(js|ts|json)$/.test(file) || file.endsWith('.test.ts')) continue
    const before = await readFile(file, 'utf8')
    if (!text.test(before)) continue
    const { atime, mtime } = await stat(file)
    await writeFile(file, before.replace(text, other))
    await utimes(file, atime, mtime)
    replaced.push(file)
  }
  assert.ok(replaced.length > 0)
  return replaced
}
