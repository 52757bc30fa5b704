import type { Row } from '../mikro-orm/answer.ts'
import type { PreparedRead } from '../mikro-orm/prepared-read.ts'

/** What a statement answers for that value, as a promise. */
export async function rowOf(read: PreparedRead, value: string | number): Promise<Row | undefined> {
  const answer = read.ask(value)
  await answer.ready
  return answer.row()
}
