import { defineConfig } from '@playwright/test'
import { browser } from './e2e/browser.ts'

// Each worker loads this file again: let it find what the first one found.
process.env.CHROMIUM_PATH = browser()

export default defineConfig({
  testDir: 'e2e',
  fullyParallel: false,
  workers: 2,
  retries: 0,
  forbidOnly: true,
  reporter: 'list',
  timeout: 30_000,
  projects: [{ name: 'chromium', use: { browserName: 'chromium' } }],
  use: {
    launchOptions: {
      executablePath: process.env.CHROMIUM_PATH,
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
    },
  },
})
