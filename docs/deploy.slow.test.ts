import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { startServer, temporaryFolder } from '../src/testing/server-process.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')

// The workflow builds and starts the image itself, because that needs Docker.
describe('the files of the image', () => {
  test('serve the site with the packages of a production installation', async (t) => {
    const site = await temporaryFolder(t)
    for (const name of ['package.json', 'package-lock.json', 'public', 'views', 'src'])
      await cp(join(root, name), join(site, name), {
        recursive: true,
        filter: (path) => !/\/(testing|dist|node_modules)(\/|$)|\.test\.ts$/.test(path.slice(root.length)),
      })
    const options = ['--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
    await run('npm', ['ci', ...options], { cwd: site })

    const variables = {
      NODE_ENV: 'production',
      PUBLIC_URL: 'https://site.example',
      TRUST_PROXY: '1',
      JWT_SECRET: Buffer.alloc(32, 'secret').toString('base64'),
      BCRYPT_COST: '12',
      DATA_DIR: await temporaryFolder(t),
    }
    const { url } = await startServer(t, variables, { site })
    assert.equal((await fetch(`${url}/readyz`)).status, 200)
  })
})

describe('the unit for systemd', () => {
  test('is valid, and exposes little of the system', async (t) => {
    const unit = join(root, 'deploy/koa-authenticators.service')
    const analyze = (...args: string[]) => run('systemd-analyze', [...args, unit])
    const hasSystemd = await analyze('--version').then(
      () => true,
      () => false,
    )
    if (!hasSystemd) return t.diagnostic('This machine has no systemd-analyze.')

    await analyze('verify')
    // Tenths of the exposure level: 1.5 counts as OK.
    await analyze('security', '--offline=true', '--threshold=20')
  })
})
