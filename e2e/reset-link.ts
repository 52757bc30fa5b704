import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Server } from './server.ts'

/** Runs `npm run user -- reset-link` for the server of a test, and returns the link. */
export async function takeResetLink({ url, database }: Server, email: string): Promise<string> {
  const command = ['src/start.js', 'commands/user', 'reset-link', email]
  const env = { PATH: process.env.PATH, DATABASE_URL: `sqlite:${database}`, PUBLIC_URL: url }
  const cwd = join(import.meta.dirname, '..')
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd, env })
  return stdout.split('\n', 1)[0] ?? ''
}
