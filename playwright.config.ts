import { defineConfig } from '@playwright/test'
import { browser } from './e2e/browser.ts'

// Playwright loads this file again in each worker. The first load stores the path of the browser for the workers, because the
// search for a browser is slow.
const { CHROMIUM_PATH, TEST_WORKER_INDEX } = process.env
const executablePath = (TEST_WORKER_INDEX && CHROMIUM_PATH) || browser()
process.env.CHROMIUM_PATH = executablePath

const launchOptions = {
  executablePath,
  args: [
    // Without the next three options, Chromium sends requests to Google at every start.
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
    '--disable-gpu',
    '--disable-quic',
    // A test needs a host that Chromium treats as insecure over plain HTTP, unlike `localhost`.
    '--host-resolver-rules=MAP site.test 127.0.0.1',
    // Chromium's sandbox does not work as root.
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ],
}

// The tests that a change most often breaks run in `npm test`, and the others in `npm run test:all`.
const quick = ['api-tokens', 'sign-in', 'sign-up', 'with-script', 'without-script'].map(
  (name) => `**/${name}.spec.ts`,
)
const backForwardCache = '**/back-forward-cache.spec.ts'

export default defineConfig({
  testDir: 'e2e',
  fullyParallel: true,
  workers: 2,
  retries: 0,
  forbidOnly: true,
  reporter: 'list',
  // Only a test that hangs meets these limits, however slow the machine is.
  timeout: 600_000,
  expect: { timeout: 120_000 },
  use: {
    browserName: 'chromium',
    launchOptions,
    // Disables transitions, because axe would measure the contrast of intermediate colours.
    contextOptions: { reducedMotion: 'reduce' },
  },
  projects: [
    { name: 'quick', testMatch: quick },
    { name: 'slow', testIgnore: [...quick, backForwardCache] },
    {
      // Enables the back/forward cache, which Playwright disables and users have.
      name: 'back-forward-cache',
      testMatch: backForwardCache,
      use: { launchOptions: { ...launchOptions, ignoreDefaultArgs: ['--disable-back-forward-cache'] } },
    },
  ],
})
