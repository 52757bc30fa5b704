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
  for (const server of servers) {
    const compared = [...left].filter((other) => areCompared(task, server, other))
    if (compared.length === 0) continue
    groups.push([server, ...compared])
    for (const each of [server, ...compared]) left.delete(each)
  }
  const others = [...left]
  for (let first = 0; first < others.length; first += most) groups.push(others.slice(first, first + most))
  return groups
}

function areCompared(task: Task, server: Server, other: Server): boolean {
  return goals.some(
    ({ compares }) =>
      compares?.task === task.key && compares.server === server.key && compares.other === other.key,
  )
}
