import { hash } from 'node:crypto'
import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { home } from '../home.ts'

const folder = 'node_modules/.cache/site'

/** Where the bundle is: `npm ci` takes it away with everything else that was installed. */
export const bundleFolder = join(home, folder)

/** Says what was in each file that the bundle was made of, and in each that it is. Without it, there is no bundle. */
export const digestsFile = join(bundleFolder, 'digests.json')

/** Digests by the path of the file, seen from the site. */
export type Digests = Record<string, string>

// Of a bundle nobody could say which part of it runs, nor change one.
const sourceIsWanted = process.execArgv.includes('--conditions=@koa-authenticators/source')

/** Where a program is imported from: its bundle, unless anything it was made of has changed since, or Node is asked for the source. */
export function urlOf(program: string): string {
  const bundled = `${folder}/${program}.js`
  const file = !sourceIsWanted && isBundled(bundled) ? bundled : `src/${program}.ts`
  return pathToFileURL(join(home, file)).href
}

/** What is another if anything in a file is. */
export function digestOf(contents: Uint8Array): string {
  return hash('sha256', contents, 'base64url')
}

function isBundled(file: string): boolean {
  try {
    // Templates and packages are looked for from where it really is: they would be another site's.
    if (realpathSync(bundleFolder) !== bundleFolder) return false
    const digests: Digests = JSON.parse(readFileSync(digestsFile, 'utf8'))
    if (digests[file] === undefined) return false
    return Object.entries(digests).every(
      ([file, digest]) => digestOf(readFileSync(join(home, file))) === digest,
    )
  } catch {
    // There is none, or one that was damaged, or is not ours to read: the source does the same, later.
    return false
  }
}
