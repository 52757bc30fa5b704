import assert from 'node:assert/strict'
import type { Keys } from './keys.ts'
import type { Server } from './servers.ts'
import type { Answer, Task } from './tasks.ts'

/** Asserts before a measurement that a server responds correctly and rejects wrong credentials. */
export async function checkAnswers(task: Task, server: Server, url: string, keys: Keys): Promise<void> {
  const values = await task.values(server, keys)
  for (const number of [0, 1, 2, Math.floor(values.length / 2), values.length - 1]) {
    const value = values[number]
    if (value !== undefined) task.check(await request(task, url, value), number)
  }
  for (const value of (await task.wrong?.(server, keys)) ?? []) {
    const { status } = await request(task, url, value)
    // A page may redirect to the sign-in form.
    const isRefused = status === 401 || (task.header === 'Cookie' && (status === 302 || status === 303))
    assert.ok(isRefused, `${server.key} responds with ${status} to wrong credentials.`)
  }
}

async function request({ method, path, header }: Task, url: string, value: string): Promise<Answer> {
  const headers = { 'X-Forwarded-For': '192.0.2.1', 'X-Forwarded-Proto': 'https' }
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: header && value ? { ...headers, [header]: value } : headers,
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}
