import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { home } from '../home.ts'
import { bundleFolder, type Digests, digestOf, digestsFile } from './bundle.ts'

/** MikroORM and what it builds its queries with, by the files that they come to. */
const packages = {
  '@mikro-orm/core': 'mikro-orm-core',
  '@mikro-orm/migrations': 'mikro-orm-migrations',
  '@mikro-orm/postgresql': 'mikro-orm-postgresql',
  '@mikro-orm/sqlite': 'mikro-orm-sqlite',
  kysely: 'kysely',
}
const isPackage = /^(@mikro-orm|kysely)(\/|$)/

// What else decides what is in it.
const recipe = ['package.json', 'src/bundle/make-bundle.ts']

const options = {
  absWorkingDir: home,
  outdir: bundleFolder,
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  // Node reads none either.
  tsconfigRaw: {},
  write: false,
  logLevel: 'error',
} satisfies BuildOptions

/**
 * Puts the servers' own code and MikroORM, most of the files that a server loads, into a few: to find, to read and to link a
 * module takes longer than to run most of them. Servers may start meanwhile: until all of it is there, from their source.
 */
export async function makeBundle(): Promise<void> {
  const digests: Digests = {}
  for (const file of recipe) digests[file] = digestOf(await readFile(join(home, file)))
  const all = await Promise.all([buildPackages(digests), buildSite(digests)])
  await mkdir(bundleFolder, { recursive: true })
  for (const { path, contents } of all.flatMap(({ outputFiles }) => outputFiles)) {
    await replace(path, contents)
    digests[relative(home, path)] = digestOf(contents)
  }
  await replace(digestsFile, JSON.stringify(digests))
}

function buildPackages(digests: Digests) {
  return build({
    ...options,
    entryPoints: Object.entries(packages).map(([name, out]) => ({ in: name, out })),
    // MikroORM knows extensions by the names of their classes. It takes time where functions are made, so it is for these only.
    keepNames: true,
    plugins: [external((name) => (isPackage.test(name) ? undefined : name)), digesting(digests)],
  })
}

function buildSite(digests: Digests) {
  const files = new Map(Object.entries(packages))
  return build({
    ...options,
    entryPoints: ['server', 'worker', 'rehearsal'].map((name) => `./src/${name}.ts`),
    conditions: ['@koa-authenticators/source'],
    // As if it were in `src` still, wherever all of it is moved.
    define: { 'import.meta.dirname': 'sourceFolder' },
    banner: { js: "const sourceFolder = import.meta.dirname + '/../../../src'" },
    plugins: [external((name) => (files.has(name) ? `./${files.get(name)}.js` : name)), digesting(digests)],
  })
}

/** What is imported by a bare name stays where it is, or is where `place` says; `undefined` is bundled. */
function external(place: (name: string) => string | undefined): Plugin {
  return {
    name: 'external',
    setup({ onResolve }) {
      onResolve({ filter: /^[^./#]/ }, ({ path: name }) => {
        const path = place(name)
        return path === undefined ? undefined : { path, external: true }
      })
    },
  }
}

/** Notes what was in each file as it is read: it may be another when all of them have been. */
function digesting(digests: Digests): Plugin {
  return {
    name: 'digesting',
    setup({ onLoad }) {
      onLoad({ filter: /^/ }, async ({ path }) => {
        const contents = await readFile(path)
        digests[relative(home, path)] = digestOf(contents)
        return { contents, loader: 'default' }
      })
    },
  }
}

async function replace(path: string, contents: Uint8Array | string): Promise<void> {
  const unfinished = `${path}.${process.pid}`
  await writeFile(unfinished, contents)
  await rename(unfinished, path)
}
