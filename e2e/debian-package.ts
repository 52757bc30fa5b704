import { spawnSync } from 'node:child_process'

/** Whether a package is installed in the end. Asks nobody: without rights, or on another system, it is not. */
export function installDebianPackage(name: string): boolean {
  if (!which('apt-get')) return false
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  const aptGet = (...rest: string[]) => {
    const [command = '', ...words] = [
      ...sudo,
      'env',
      'DEBIAN_FRONTEND=noninteractive',
      'apt-get',
      '-q',
      ...rest,
    ]
    return attempt(command, words, 10)
  }
  const install = () => aptGet('install', '-y', '--no-install-recommends', name)
  // A fresh machine has no package lists, or old ones.
  return install() || (aptGet('update') && install())
}

/** Where a command is, if it is anywhere. */
export function which(name: string): string | undefined {
  const { status, stdout } = spawnSync('sh', ['-c', 'command -v "$1"', 'sh', name], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

/** Names what it runs, on stderr (stdout is for the path alone), and keeps the installer's own pages of output to itself. */
export function attempt(
  command: string,
  words: string[],
  minutes: number,
  env: Record<string, string> = {},
): boolean {
  console.error(`Not found on this machine. Trying: ${[command, ...words].join(' ')}`)
  const run = spawnSync(command, words, {
    stdio: 'ignore',
    timeout: minutes * 60_000,
    env: { ...process.env, ...env },
  })
  if (run.status !== 0)
    console.error(`That failed (${run.error?.message ?? run.signal ?? `exit code ${run.status}`}).`)
  return run.status === 0
}
