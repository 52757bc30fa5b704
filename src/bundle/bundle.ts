import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { home } from '../home.ts'

/** Where the bundle is: `npm ci` takes it away with everything else that was installed. */
export const bundleFolder = join(home, 'node_modules/.cache/site')

/** Says of each file that the bundle was made of what is another if that was changed. Without it, there is no bundle. */
export const stampsFile = join(bundleFolder, 'stamps.json')

// Of a bundle nobody could say which part of it runs, nor change one.
const sourceIsWanted = process.execArgv.includes('--conditions=@koa-authenticators/source')

/** Where a program is imported from: its bundle, unless anything that was made of has changed since, or Node is asked for the source. */
export function urlOf(program: string): string {
  const file = join(bundleFolder, `${program}.js`)
  const isBundled = !sourceIsWanted && existsSync(file) && existsSync(stampsFile) && isFresh()
  return pathToFileURL(isBundled ? file : join(home, 'src', `${program}.ts`)).href
}

/** What is another if the file was changed. In whole seconds: the layers of an image keep no more. */
export function stampOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats === undefined ? 'gone' : `${Math.floor(stats.mtimeMs / 1000)} ${stats.size}`
}

function isFresh(): boolean {
  const stamps: Record<string, string> = JSON.parse(readFileSync(stampsFile, 'utf8'))
  return Object.entries(stamps).every(([file, stamp]) => stampOf(join(home, file)) === stamp)
}
