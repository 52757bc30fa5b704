import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from '@playwright/test'
import { attempt, installDebianPackage, which } from './debian-package.ts'

const advice =
  'No browser for the end-to-end tests: install Chromium or Chrome (Debian: apt-get install chromium), or set CHROMIUM_PATH to its path.'

/** The path of a Chromium or Chrome that starts. Without `CHROMIUM_PATH`, installs one if there is none. Throws if none starts. */
export function browser(): string {
  const named = process.env.CHROMIUM_PATH
  if (named) {
    if (starts(named)) return named
    throw new Error(
      `CHROMIUM_PATH is ${named}. This program is not Chromium or Chrome, or it does not start.`,
    )
  }
  const found =
    findInstalledBrowser() ?? findPlaywrightBrowser() ?? installPlaywrightBrowser() ?? installDebianBrowser()
  if (!found) throw new Error(advice)
  return found
}

function findInstalledBrowser(): string | undefined {
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

function findPlaywrightBrowser(): string | undefined {
  const path = chromium.executablePath()
  return starts(path) ? path : undefined
}

/** Fails without internet access. Does not install system libraries. */
function installPlaywrightBrowser(): string | undefined {
  const cli = createRequire(import.meta.url).resolve('@playwright/test/cli')
  attempt(process.execPath, [cli, 'install', 'chromium'], 5, {
    PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT: '10000',
  })
  return findPlaywrightBrowser()
}

function installDebianBrowser(): string | undefined {
  return installDebianPackage('chromium') ? findInstalledBrowser() : undefined
}

/**
 * Whether the browser renders a page. An installed browser may not start: Ubuntu's `chromium-browser` is a stub, and Playwright's
 * Chromium may lack shared libraries.
 */
function starts(path: string): boolean {
  const profile = mkdtempSync(join(tmpdir(), 'koa-authenticators-browser-'))
  const words = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    `--user-data-dir=${profile}`,
  ]
  const { stdout } = spawnSync(path, [...words, '--dump-dom', 'data:text/html,<h1>It starts'], {
    encoding: 'utf8',
    timeout: 300_000,
    killSignal: 'SIGKILL',
  })
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  return stdout?.includes('<h1>It starts</h1>') ?? false
}
