import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/** Creates a directory for its owner only, with its parents. Node's option `recursive` hangs for a path below /proc. */
export function makeDirectory(path: string): void {
  if (existsSync(path)) return
  makeDirectory(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have created the directory in the meantime.
    if (!existsSync(path)) throw error
  }
}
