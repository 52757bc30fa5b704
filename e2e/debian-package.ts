import { spawnSync } from 'node:child_process'

/** Installs a package without prompts. Returns false on failure, for example without root rights or on another system. */
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
  // The package lists may be missing or outdated.
  return install() || (aptGet('update') && install())
}

/** The path of a command, if it exists. */
export function which(name: string): string | undefined {
  const { status, stdout } = spawnSync('sh', ['-c', 'command -v "$1"', 'sh', name], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

/** Runs an installer and hides its output. Returns whether it succeeded. */
export function attempt(
  command: string,
  words: string[],
  minutes: number,
  env: Record<string, string> = {},
): boolean {
  console.error(`A program that the tests need is missing. Running: ${[command, ...words].join(' ')}`)
  const run = spawnSync(command, words, {
    stdio: 'ignore',
    timeout: minutes * 60_000,
    env: { ...process.env, ...env },
  })
  if (run.status !== 0)
    console.error(
      `The installation failed (${run.error?.message ?? run.signal ?? `exit code ${run.status}`}).`,
    )
  return run.status === 0
}
