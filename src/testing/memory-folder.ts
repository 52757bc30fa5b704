import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const folder = '/dev/shm'
const neededBytes = 4 * 2 ** 30

/** Returns `/dev/shm`. If it is missing or has less than 4 GB of free space, returns the folder for temporary files. */
export function memoryFolder(): string {
  if (!existsSync(folder)) return tmpdir()
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize >= neededBytes ? folder : tmpdir()
}
