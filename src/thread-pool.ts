import { readdirSync, readFileSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

/**
 * Has the threads of Node's pool, which bcrypt keeps busy, give way to the one that answers: while logins flood, a page
 * would wait for its turn on the processor, again and again. Only Linux has priorities of threads. The threads are there
 * once anything was read from a file.
 *
 * @returns how many of them there are; 0 where that cannot be told
 * @throws if the system refuses
 */
export function yieldThreadPool(): number {
  if (process.platform !== 'linux') return 0
  const threads = readdirSync('/proc/self/task').filter(isOfPool)
  const { PRIORITY_BELOW_NORMAL: lower, PRIORITY_LOW: lowest } = constants.priority
  for (const thread of threads) setPriority(Number(thread), Math.min(getPriority() + lower, lowest))
  return threads.length
}

// As libuv names them.
function isOfPool(thread: string): boolean {
  return readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').startsWith('libuv-worker')
}
