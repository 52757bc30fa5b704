import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/** Makes a directory for its owner alone, and those above it. Node's own `recursive` spins for ever below /proc. */
export function makeDirectory(path: string): void {
  if (existsSync(path)) return
  makeDirectory(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(path)) throw error
  }
}
