import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const folder = '/dev/shm'
const neededBytes = 4 * 2 ** 30

/** A folder in memory. Without 4 GB of free space in memory, the folder for temporary files. */
export function memoryFolder(): string {
  if (!existsSync(folder)) return tmpdir()
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize >= neededBytes ? folder : tmpdir()
}
