import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { home } from '../home.ts'
import { bundleFolder, stampOf, stampsFile } from './bundle.ts'

/** MikroORM and what it builds its queries with, by the files that they come to. */
const packages = {
  '@mikro-orm/core': 'mikro-orm-core',
  '@mikro-orm/migrations': 'mikro-orm-migrations',
  '@mikro-orm/postgresql': 'mikro-orm-postgresql',
  '@mikro-orm/sqlite': 'mikro-orm-sqlite',
  kysely: 'kysely',
}
const isPackage = /^(@mikro-orm|kysely)(\/|$)/

const options = {
  absWorkingDir: home,
  outdir: bundleFolder,
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  metafile: true,
  write: false,
  logLevel: 'error',
} satisfies BuildOptions

/**
 * Puts the servers' own code and MikroORM, most of the files that a server loads, into a few: to find, to read and to link a
 * module takes longer than to run most of them. Servers may start meanwhile. There is no bundle if a file is changed meanwhile.
 */
export async function makeBundle(): Promise<void> {
  const begun = Date.now()
  const all = await Promise.all([buildPackages(), buildSite()])
  await mkdir(bundleFolder, { recursive: true })
  for (const { path, contents } of all.flatMap(({ outputFiles }) => outputFiles))
    await replace(path, contents)
  const files = all.flatMap(({ metafile }) => Object.keys(metafile.inputs))
  const stamps = JSON.stringify(Object.fromEntries(files.map((file) => [file, stampOf(join(home, file))])))
  const changed = await Promise.all(files.map((file) => stat(join(home, file))))
  // Last: until then, whoever starts finds the stamps of what was there before.
  if (changed.some(({ mtimeMs }) => mtimeMs > begun)) await rm(stampsFile, { force: true })
  else await replace(stampsFile, stamps)
}

function buildPackages() {
  return build({
    ...options,
    entryPoints: Object.entries(packages).map(([name, out]) => ({ in: name, out })),
    // MikroORM knows extensions by the names of their classes. It takes time where functions are made, so it is for these only.
    keepNames: true,
    plugins: [external((name) => (isPackage.test(name) ? undefined : name))],
  })
}

function buildSite() {
  const files = new Map(Object.entries(packages))
  return build({
    ...options,
    entryPoints: ['server', 'worker', 'rehearsal'].map((name) => `./src/${name}.ts`),
    conditions: ['@koa-authenticators/source'],
    // As if it were in `src` still, wherever all of it is moved.
    define: { 'import.meta.dirname': 'sourceFolder' },
    banner: { js: "const sourceFolder = import.meta.dirname + '/../../../src'" },
    plugins: [external((name) => (files.has(name) ? `./${files.get(name)}.js` : name))],
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

async function replace(path: string, contents: Uint8Array | string): Promise<void> {
  const unfinished = `${path}.${process.pid}`
  await writeFile(unfinished, contents)
  await rename(unfinished, path)
}
