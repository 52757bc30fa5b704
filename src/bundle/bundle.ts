import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { home } from '../home.ts'

/** Where the bundle is: `npm ci` takes it away with everything else that was installed. */
export const bundleFolder = join(home, 'node_modules/.cache/site')

/** Says of each file that the bundle was made of what is another if that was changed. Without it, there is no bundle. */
export const stampsFile = join(bundleFolder, 'stamps.json')

// Of a bundle nobody could say which part of it runs, nor change one.
const sourceIsWanted = process.execArgv.includes('--conditions=@koa-authenticators/source')

/** The bundled program, if there is one, nothing that it was made of has changed since, and nobody asks Node for the source. */
export function bundled(program: string): string | undefined {
  const file = join(bundleFolder, `${program}.js`)
  return !sourceIsWanted && existsSync(file) && existsSync(stampsFile) && isFresh() ? file : undefined
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
