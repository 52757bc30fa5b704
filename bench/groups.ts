import { goals } from './goals.ts'
import type { Server } from './servers.ts'
import type { Task } from './tasks.ts'

const most = 4

/**
 * Whom a goal compares, together, and the others in fours: few, so that nobody waits for much longer than eight seconds. A
 * server that has nothing to do for so long has V8 give memory back, and with it the hidden classes of objects that only
 * requests have, and all compiled code that knows them.
 */
export function groupsOf(task: Task, servers: readonly Server[]): Server[][] {
  const left = new Set(servers)
  const groups: Server[][] = []
  const others: Server[] = []
  for (const server of servers) {
    if (!left.delete(server)) continue
    const group = [server]
    // Also whom the others of the group are compared with.
    for (const each of group) {
      const compared = [...left].filter((other) => areCompared(task, each, other))
      for (const other of compared) left.delete(other)
      group.push(...compared)
    }
    if (group.length > 1) groups.push(group)
    else others.push(server)
  }
  for (let first = 0; first < others.length; first += most) groups.push(others.slice(first, first + most))
  return groups
}

function areCompared(task: Task, ...pair: readonly [Server, Server]): boolean {
  const keys = pair.map(({ key }) => key)
  return goals.some(
    ({ compares }) =>
      compares?.task === task.key && keys.includes(compares.server) && keys.includes(compares.other),
  )
}
