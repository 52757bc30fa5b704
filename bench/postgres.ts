import { type PostgresRows, postgresRows } from './postgres-database.ts'
import type { Server } from './servers.ts'
import { type Task, taskOf } from './tasks.ts'
import { type Pace, type Standing, takeTurns } from './turns.ts'

/** The servers that can ask a PostgreSQL. */
const able = ['layer', 'koa-by-hand']

/** What asks a database: a signed token and a visitor do not. */
const tasks = ['bearer', 'session'].map(taskOf)

/** The same tasks, on the same rows, in PostgreSQL. */
export async function measurePostgres(
  servers: readonly Server[],
  pace: Pace,
  found: (task: Task, measured: Record<string, Standing>) => void,
): Promise<void> {
  const rows: PostgresRows = await postgresRows()
  try {
    const all = servers.filter(({ key }) => able.includes(key)).map((server) => ({ ...server, rows }))
    for (const task of tasks) {
      const asked = all.filter(({ can }) => can?.includes(task.key) ?? true)
      const onPostgres = { ...task, key: `postgres-${task.key}`, name: `${task.name}, on PostgreSQL` }
      found(onPostgres, await takeTurns(onPostgres, asked, pace))
    }
  } finally {
    await rows.stop()
  }
}
