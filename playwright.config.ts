import { defineConfig } from '@playwright/test'
import { browser } from './e2e/browser.ts'

// Each worker loads this file again, and is given what was found the first time.
const { CHROMIUM_PATH, TEST_WORKER_INDEX } = process.env
const executablePath = (TEST_WORKER_INDEX && CHROMIUM_PATH) || browser()
process.env.CHROMIUM_PATH = executablePath

const launchOptions = {
  executablePath,
  args: [
    // Without these Chromium looks for hosts of its maker's at every start.
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
    '--disable-gpu',
    '--disable-quic',
    // Chromium's sandbox refuses to start as root.
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ],
}

const ofItsOwn = ['**/kept-pages.spec.ts', '**/large-text.spec.ts']

export default defineConfig({
  testDir: 'e2e',
  fullyParallel: true,
  workers: 2,
  retries: 0,
  forbidOnly: true,
  reporter: 'list',
  timeout: 60_000,
  expect: { timeout: 10_000 },
  use: {
    browserName: 'chromium',
    launchOptions,
    // axe is to see the colours of a page, not of the way from one to the next.
    contextOptions: { reducedMotion: 'reduce' },
  },
  projects: [
    { name: 'usual', testIgnore: ofItsOwn },
    {
      // Playwright switches off the cache of whole pages behind the back button; people have it on.
      name: 'kept pages',
      testMatch: '**/kept-pages.spec.ts',
      use: { launchOptions: { ...launchOptions, ignoreDefaultArgs: ['--disable-back-forward-cache'] } },
    },
    {
      name: 'large text',
      testMatch: '**/large-text.spec.ts',
      use: {
        launchOptions: {
          ...launchOptions,
          args: [...launchOptions.args, '--blink-settings=defaultFontSize=32'],
        },
      },
    },
  ],
})
