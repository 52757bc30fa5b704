import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const folder = '/dev/shm'
const neededBytes = 4 * 2 ** 30

/** A folder in memory, or the folder for temporary files if less than 4 GB of memory is free. */
export function memoryFolder(): string {
  if (!existsSync(folder)) return tmpdir()
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize >= neededBytes ? folder : tmpdir()
}
