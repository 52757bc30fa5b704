import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { chromium } from '@playwright/test'

/** Whatever a person has to do by hand is in this one line. */
const advice =
  'No browser for the end-to-end tests: install Chromium or Chrome (Debian: apt-get install chromium), or set CHROMIUM_PATH to one.'

/** A Chromium or Chrome that starts on this machine, installed if there is none; throws one plain line if that fails too. */
export function browser(): string {
  const named = process.env.CHROMIUM_PATH
  if (named) {
    if (starts(named)) return named
    throw new Error(`CHROMIUM_PATH is ${named}, which does not start as a Chromium or Chrome.`)
  }
  const found = onThisMachine() ?? playwrightsOwn() ?? installPlaywrightsOwn() ?? installDebianPackage()
  if (!found) throw new Error(advice)
  return found
}

function onThisMachine(): string | undefined {
  return [
    'chromium',
    'chromium-browser',
    'google-chrome',
    'google-chrome-stable',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ]
    .map((name) => (name.startsWith('/') ? name : which(name)))
    .find((path) => path !== undefined && starts(path))
}

function playwrightsOwn(): string | undefined {
  const path = chromium.executablePath()
  return starts(path) ? path : undefined
}

/** Fails at its first request where only package registries can be reached, and leaves out the host's own libraries. */
function installPlaywrightsOwn(): string | undefined {
  const cli = createRequire(import.meta.url).resolve('@playwright/test/cli')
  attempt(process.execPath, [cli, 'install', 'chromium'], 5, {
    PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT: '10000',
  })
  return playwrightsOwn()
}

function installDebianPackage(): string | undefined {
  if (!which('apt-get')) return undefined
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
  const install = () => aptGet('install', '-y', '--no-install-recommends', 'chromium')
  // A fresh machine has no package lists, or old ones.
  if (!install() && aptGet('update')) install()
  return onThisMachine()
}

function which(name: string): string | undefined {
  const { status, stdout } = spawnSync('sh', ['-c', 'command -v "$1"', 'sh', name], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

/** A file of the right name is not enough: Ubuntu's is a stub, and Playwright's own may lack shared libraries. */
function starts(path: string): boolean {
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 20_000 })
  return status === 0 && /Chrom/.test(stdout)
}

/** Names what it runs, on stderr (stdout is for the path alone), and keeps the installer's own pages of output to itself. */
function attempt(
  command: string,
  words: string[],
  minutes: number,
  env: Record<string, string> = {},
): boolean {
  console.error(`No browser yet. Trying: ${[command, ...words].join(' ')}`)
  const run = spawnSync(command, words, {
    stdio: 'ignore',
    timeout: minutes * 60_000,
    env: { ...process.env, ...env },
  })
  if (run.status !== 0)
    console.error(`That failed (${run.error?.message ?? run.signal ?? `exit code ${run.status}`}).`)
  return run.status === 0
}

if (import.meta.main) {
  try {
    console.log(browser())
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
