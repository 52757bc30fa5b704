import { totalmem } from 'node:os'

const mebibyte = 1024
// What better-sqlite3 has SQLite take if nobody says anything.
const usual = 16 * mebibyte
// Room for the pages by which a million tokens are found.
const enough = 256 * mebibyte
const share = 1 / 32

/**
 * How much of a database a process keeps in memory, so that it reads that from the file once: a small share of the memory
 * there is, since each worker has its own and the system keeps the file in memory as well. It is taken page by page, as
 * they are read. In kibibytes, which `pragma cache_size` takes as a negative number.
 *
 * @param memory what the process may use, in bytes
 */
export function pageCacheSize(memory = availableMemory()): number {
  return Math.min(enough, Math.max(usual, Math.floor((memory * share) / 1024)))
}

// A container may have less than the machine; where nothing is limited, the limit is more than there is.
function availableMemory(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
}
