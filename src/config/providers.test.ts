import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { readConfig } from './config.ts'

const DATA_DIR = mkdtempSync(join(tmpdir(), 'providers-'))
after(() => rmSync(DATA_DIR, { recursive: true }))
const PUBLIC_URL = 'https://example.com'

function read(variables: Record<string, string>) {
  return readConfig({ NODE_ENV: 'test', DATA_DIR, PUBLIC_URL, ...variables }).providers
}

function keyFile(namedCurve: string): string {
  const file = join(DATA_DIR, `${namedCurve}.p8`)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve })
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return file
}

describe('PROVIDERS', () => {
  test('V37 is empty by default, whatever the other variables are', () => {
    assert.deepEqual(read({ PROVIDER_GOOGLE_CLIENT_ID: 'id' }), [])
  })

  test('knows the issuers of Google, GitHub, Microsoft and Apple, and accepts any other issuer', () => {
    const providers = read({
      PROVIDERS: 'google,github,microsoft,apple,company',
      ...client('GOOGLE'),
      PROVIDER_GOOGLE_TENANT: 'example.com',
      ...client('GITHUB'),
      ...client('MICROSOFT'),
      PROVIDER_APPLE_CLIENT_ID: 'com.example.site',
      PROVIDER_APPLE_TEAM_ID: 'TEAM',
      PROVIDER_APPLE_KEY_ID: 'KEY',
      PROVIDER_APPLE_PRIVATE_KEY: keyFile('P-256'),
      ...client('COMPANY'),
      PROVIDER_COMPANY_ISSUER: 'https://sso.example.com/realms/company',
      PROVIDER_COMPANY_LABEL: 'Example SSO',
      PROVIDER_COMPANY_CLIENT_AUTHENTICATION: 'post',
    })
    assert.deepEqual(
      providers.map(({ id, label, kind, issuer }) => [id, label, kind, issuer]),
      [
        ['google', 'Google', 'openid', 'https://accounts.google.com'],
        ['github', 'GitHub', 'github', 'https://github.com'],
        ['microsoft', 'Microsoft', 'openid', 'https://login.microsoftonline.com/common/v2.0'],
        ['apple', 'Apple', 'apple', 'https://appleid.apple.com'],
        ['company', 'Example SSO', 'openid', 'https://sso.example.com/realms/company'],
      ],
    )
    const [google, github, , apple, company] = providers
    assert.deepEqual(google?.tenant, { claim: 'hd', value: 'example.com' })
    assert.deepEqual([google?.prompt, github?.prompt], ['select_account', undefined])
    assert.equal(company?.clientAuthentication, 'client_secret_post')
    assert.equal(apple?.apple?.teamId, 'TEAM')
  })

  test('reports all mistakes together, and never a secret', () => {
    const secret = 'GOCSPX-secret-that-is-no-file'
    assert.throws(
      () =>
        readConfig({
          NODE_ENV: 'test',
          DATA_DIR,
          PROVIDERS: 'google,company,other-one,github,apple',
          PROVIDER_GOOGLE_CLIENT_ID: 'id',
          ...client('COMPANY'),
          PROVIDER_COMPANY_ISSUER: 'http://sso.example.com',
          PROVIDER_COMPANY_CLIENT_AUTHENTICATION: 'header',
          PROVIDER_COMPANY_TENANT: 'example.com',
          ...client('OTHER_ONE'),
          PROVIDER_OTHER_ONE_ISSUER: 'https://ACCOUNTS.google.com/',
          ...client('GITHUB'),
          PROVIDER_GITHUB_ISSUER: 'https://github.example.com/path',
          PROVIDER_APPLE_CLIENT_ID: 'com.example.site',
          PROVIDER_APPLE_KEY_ID: 'KEY',
          PROVIDER_APPLE_PRIVATE_KEY: secret,
        }),
      ({ message }: Error) => {
        const names = message.split('\n').map((line) => line.split(' ', 1)[0])
        assert.deepEqual(names.sort(), [
          'PROVIDER_APPLE_PRIVATE_KEY',
          'PROVIDER_APPLE_TEAM_ID',
          'PROVIDER_COMPANY_CLIENT_AUTHENTICATION',
          'PROVIDER_COMPANY_ISSUER',
          'PROVIDER_COMPANY_TENANT',
          'PROVIDER_GITHUB_ISSUER',
          'PROVIDER_GOOGLE_CLIENT_SECRET',
          'PROVIDER_OTHER_ONE_ISSUER',
          'PUBLIC_URL',
        ])
        return !message.includes(secret)
      },
    )
  })

  test('rejects names that are no part of a path, and names that occur twice', () => {
    for (const PROVIDERS of ['Google', 'a/b', '../x', 'google,google', '1st'])
      assert.throws(
        () => read({ PROVIDERS, ...client('GOOGLE') }),
        /^ConfigError: PROVIDERS must be different/,
      )
  })

  test('rejects a key that is not of Apple’s kind', () => {
    const apple = { PROVIDER_APPLE_CLIENT_ID: 'x', PROVIDER_APPLE_TEAM_ID: 'x', PROVIDER_APPLE_KEY_ID: 'x' }
    const PROVIDER_APPLE_PRIVATE_KEY = keyFile('P-384')
    assert.throws(() => read({ PROVIDERS: 'apple', ...apple, PROVIDER_APPLE_PRIVATE_KEY }), /\.p8/)
  })
})

function client(name: string): Record<string, string> {
  return { [`PROVIDER_${name}_CLIENT_ID`]: 'id', [`PROVIDER_${name}_CLIENT_SECRET`]: 'secret' }
}
