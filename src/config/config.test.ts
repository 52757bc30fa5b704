import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { parseEnv } from 'node:util'
import { JWTKeys } from '#auth/jwt'
import { readConfig } from './config.ts'
import { ConfigError, readPart } from './environment.ts'
import { readStorage } from './storage.ts'

const directory = mkdtempSync(join(tmpdir(), 'config-'))
after(() => rmSync(directory, { recursive: true }))

const secret = 'a secret of more than thirty-two bytes'
const secretsKey = randomBytes(32).toString('base64')
const howToMakeSecret = 'Create a secret with `openssl rand -base64 32`.'
const development = { DATA_DIR: join(directory, 'data'), JWT_SECRET: secret }
const production = {
  ...development,
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://example.com',
  TRUST_PROXY: '1',
  SMTP_URL: 'smtp://localhost',
  MAIL_FROM: 'no-reply@example.com',
  SECRETS_KEY: `key1:${secretsKey}`,
  SITE_NAME: 'Acme',
  JWT_ISSUER: 'https://example.com',
}

function mistakesOf(variables: Record<string, string | undefined>): readonly string[] {
  try {
    readConfig(variables)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n')
    throw error
  }
}

function keyFile(name: string, content: string | object): string {
  const file = join(directory, name)
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

describe('readConfig', () => {
  test('has defaults for all variables in development', () => {
    const DATA_DIR = join(directory, 'fresh')
    const config = readConfig({ DATA_DIR })

    assert.deepEqual(
      { ...config, jwtKeys: undefined, secretsKeys: config.secretsKeys?.map(({ id }) => id) },
      {
        profile: 'development',
        production: false,
        siteName: 'koa-authenticators',
        siteTagline: undefined,
        dataDir: DATA_DIR,
        databaseUrl: `sqlite:${DATA_DIR}/site.sqlite`,
        databasePool: 10,
        bcryptCost: 12,
        host: '127.0.0.1',
        port: 3000,
        publicUrl: undefined,
        rpId: undefined,
        hsts: 'sub-domains',
        brandColor: undefined,
        supportUrl: undefined,
        jwtIssuer: 'koa-authenticators',
        mail: {
          server: undefined,
          from: { name: '', address: 'no-reply@localhost' },
          folder: `${DATA_DIR}/mail`,
        },
        providers: [],
        trustProxy: 0,
        throttle: true,
        drainSeconds: 0,
        workers: 1,
        metricsPort: undefined,
        logLevel: 'info',
        secureCookies: false,
        jwtKeys: undefined,
        secretsKeys: ['development'],
        warnings: [],
      },
    )
    assert.equal(readConfig({ ...development, DATA_DIR: undefined }).dataDir, join(process.cwd(), 'data'))
  })

  test('F2 defaults to host 0.0.0.0, a drain of five seconds and secure cookies in production with https', () => {
    const config = readConfig(production)

    assert.equal(config.host, '0.0.0.0')
    assert.equal(config.drainSeconds, 5)
    assert.equal(config.secureCookies, true)
    assert.deepEqual(config.warnings, [])
  })

  test('replaces the defaults with the values of variables', () => {
    const config = readConfig({
      ...development,
      NODE_ENV: 'test',
      HOST: '::1',
      PORT: '0',
      DATABASE_URL: 'sqlite:some/site.sqlite',
      PUBLIC_URL: 'http://localhost:8080/',
      RP_ID: 'localhost',
      SITE_NAME: 'Ada’s notes',
      BRAND_COLOR: '#0055FF',
      SUPPORT_URL: 'mailto:help@example.com',
      JWT_ISSUER: 'https://example.com',
      SECRETS_KEY: `new:${secretsKey},old:${randomBytes(32).toString('base64url')}`,
      BCRYPT_COST: '4',
      TRUST_PROXY: '2',
      THROTTLE: 'off',
      DRAIN_SECONDS: '7',
      LOG_LEVEL: 'silent',
    })

    assert.equal(config.host, '::1')
    assert.equal(config.port, 0)
    assert.equal(config.databaseUrl, `sqlite:${process.cwd()}/some/site.sqlite`)
    assert.equal(config.publicUrl?.origin, 'http://localhost:8080')
    assert.equal(config.rpId, 'localhost')
    assert.equal(config.siteName, 'Ada’s notes')
    assert.equal(config.brandColor?.light, '#0055ff')
    assert.equal(config.supportUrl, 'mailto:help@example.com')
    assert.equal(config.jwtIssuer, 'https://example.com')
    assert.equal(config.bcryptCost, 4)
    assert.equal(config.trustProxy, 2)
    assert.equal(config.throttle, false)
    assert.equal(config.drainSeconds, 7)
    assert.equal(config.logLevel, 'silent')
    assert.deepEqual(config.jwtKeys, { secrets: [secret] })
    assert.deepEqual(
      config.secretsKeys?.map(({ id }) => id),
      ['new', 'old'],
    )
    assert.deepEqual(config.secretsKeys?.[0]?.bytes, Buffer.from(secretsKey, 'base64'))
  })

  test('N1 rejects each empty variable, once', () => {
    const names = Object.keys(
      parseEnv(readFileSync('.env.example', 'utf8').replaceAll(/^#(?=[A-Z_]+=)/gm, '')),
    )
    assert.ok(names.includes('BRAND_COLOR'))
    for (const name of names) {
      const mistakes = mistakesOf({ DATA_DIR: development.DATA_DIR, [name]: ' ' })
      const cure = 'Set it or delete it. In .env, a value with # must be in quotes.'
      assert.deepEqual(mistakes, [`${name} is empty. ${cure}`])
    }
    assert.equal(mistakesOf({ ...production, JWT_SECRET: ' , ' }).length, 1)
  })

  test('F3 N1 reports all mistakes together, with one line for each variable', () => {
    const mistakes = mistakesOf({
      NODE_ENV: 'production',
      SITE_NAME: 'x'.repeat(51),
      BRAND_COLOR: 'green',
      SUPPORT_URL: 'help@example.com',
      JWT_ISSUER: 'a\nb',
      HOST: 'http://example.com',
      PORT: '65536',
      DATABASE_URL: 'mysql://root@localhost/site',
      PUBLIC_URL: 'https://example.com/path',
      JWT_SECRET: 'short and secret',
      BCRYPT_COST: '9',
      TRUST_PROXY: 'yes',
      THROTTLE: 'off',
      DRAIN_SECONDS: '1.5',
      LOG_LEVEL: 'loud',
    })

    assert.deepEqual(mistakes.toSorted(), [
      'BCRYPT_COST must be a whole number from 10 to 15.',
      'BRAND_COLOR must be a colour with six hexadecimal digits, such as #0b6a4e.',
      'DATABASE_URL must be sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE.',
      'DRAIN_SECONDS must be a whole number from 0 to 600.',
      'HOST must be a host name or an IP address.',
      'JWT_ISSUER must be a text of at most 200 characters, without control characters.',
      `JWT_SECRET needs at least 32 random bytes in each entry. ${howToMakeSecret}`,
      'LOG_LEVEL must be one of silent, fatal, error, warn, info, debug, trace.',
      'PORT must be a whole number from 0 to 65535.',
      'PUBLIC_URL must be an origin without a path, such as https://example.com.',
      'SITE_NAME must be a text of at most 50 characters, without control characters.',
      'SUPPORT_URL must be an https or mailto URL, such as https://example.com/help or mailto:help@example.com.',
      'THROTTLE must be on in production.',
      'TRUST_PROXY must be the number of proxies (0 to 9) or their addresses (such as 10.0.0.0/8, ::1).',
    ])
  })

  test('F3 rejects an unknown profile, and missing variables in production', () => {
    assert.deepEqual(mistakesOf({ ...development, NODE_ENV: 'prod' }), [
      'NODE_ENV must be one of development, production, test.',
    ])
    assert.deepEqual(mistakesOf({ NODE_ENV: 'production' }), [
      `JWT_SECRET or JWT_KEYS must be set in production. ${howToMakeSecret}`,
      'PUBLIC_URL must be set in production to an origin without a path, such as https://example.com.',
    ])
  })

  test('reads the URL of a PostgreSQL database, and a pool size from 2 to 1000', () => {
    for (const DATABASE_URL of [
      'postgres://me:hunter2@db.example.com:5433/site',
      'postgresql://me@[::1]/site?sslmode=verify-full',
      'postgres://me:p%40ss@%2Fvar%2Frun%2Fpostgresql/site',
    ]) {
      const config = readConfig({ ...development, DATABASE_URL, DATABASE_POOL: '20' })
      assert.deepEqual([config.databaseUrl, config.databasePool], [DATABASE_URL, 20])
    }
    for (const DATABASE_POOL of ['1', '1001', 'many'])
      assert.deepEqual(mistakesOf({ ...development, DATABASE_POOL }), [
        'DATABASE_POOL must be a whole number from 2 to 1000.',
      ])
  })

  test('rejects an invalid PostgreSQL URL or an unknown parameter, without repeating the password', () => {
    for (const DATABASE_URL of [
      'postgres:site',
      'postgres://me:hunter2@db',
      'postgres://me:hunter2@db/',
      'postgres://me:hunter2@/site',
      'postgres://me:hunter2@db/site/other',
      'postgres://me:hunter2@db:port/site',
      'postgres://me:hunter2@db/site?sslmode=perhaps',
      'postgres://me:hunter2@db/site?sslmode=disable&pool=3',
      'postgres://me:hunter2@db/site#x',
      'postgres://me:hunter2%@db/site',
      'postgres://me:hunter2@db/site%00',
    ])
      assert.deepEqual(
        mistakesOf({ ...development, DATABASE_URL }),
        ['DATABASE_URL must be sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE.'],
        DATABASE_URL,
      )
  })

  test('resolves the path of an SQLite database', () => {
    const urlOf = (DATABASE_URL: string) => readConfig({ ...development, DATABASE_URL }).databaseUrl

    assert.equal(urlOf('sqlite:/srv/site.sqlite'), 'sqlite:/srv/site.sqlite')
    assert.equal(urlOf('sqlite:a b/../site.sqlite'), `sqlite:${process.cwd()}/site.sqlite`)
    assert.throws(() => urlOf('sqlite::memory:'), /^ConfigError: DATABASE_URL must be sqlite:PATH or /)
  })

  test('rejects numbers that are not whole, not decimal or out of range', () => {
    for (const PORT of ['-1', '1e3', '0x50', '80.0', '٣٠٠٠', '99999999999999999999', 'NaN', '80 81']) {
      assert.equal(mistakesOf({ ...development, PORT }).length, 1, PORT)
    }
    for (const BCRYPT_COST of ['3', '16', '31'])
      assert.equal(mistakesOf({ ...development, BCRYPT_COST }).length, 1)
  })

  test('accepts several workers', () => {
    assert.equal(readConfig({ ...development, WORKERS: '64' }).workers, 64)
    for (const WORKERS of ['0', '65', '1.5', 'auto'])
      assert.deepEqual(mistakesOf({ ...development, WORKERS }), [
        'WORKERS must be a whole number from 1 to 64.',
      ])
  })

  test('accepts only an http or https origin as PUBLIC_URL', () => {
    for (const PUBLIC_URL of [
      'example.com',
      'ftp://example.com',
      'https://a:b@example.com',
      'https://example.com/?x',
      '//x.de',
    ]) {
      assert.equal(mistakesOf({ ...development, PUBLIC_URL }).length, 1, PUBLIC_URL)
    }
    assert.equal(
      readConfig({ ...development, PUBLIC_URL: 'https://EXAMPLE.com:443/' }).publicUrl?.origin,
      'https://example.com',
    )
  })

  test('F2 warns of plain HTTP, and of HTTPS without TRUST_PROXY', () => {
    const plain = readConfig({ ...production, PUBLIC_URL: 'http://intranet.example' })
    const direct = readConfig({ ...production, TRUST_PROXY: undefined })

    assert.equal(plain.secureCookies, false)
    assert.match(plain.warnings.join(), /^PUBLIC_URL is not https/)
    assert.match(direct.warnings.join(), /TRUST_PROXY is 0\./)
  })

  test('warns that production sends no mail without SMTP_URL', () => {
    assert.deepEqual(readConfig({ ...production, SMTP_URL: undefined }).warnings, [
      'SMTP_URL is not set. The site sends no mail. For a forgotten password, run: npm run user -- reset-link EMAIL',
    ])
  })

  test('warns that production has no second factors without SECRETS_KEY', () => {
    const config = readConfig({ ...production, SECRETS_KEY: undefined })
    assert.equal(config.secretsKeys, undefined)
    assert.deepEqual(config.warnings, [
      'SECRETS_KEY is not set. Users cannot turn on authenticator apps and passkeys.',
    ])
  })

  test('warns that production has the default name or the default issuer of tokens', () => {
    assert.deepEqual(readConfig({ ...production, SITE_NAME: undefined }).warnings, [
      'SITE_NAME is the default, koa-authenticators. Pages, mails and authenticator apps show it to users.',
    ])
    assert.deepEqual(readConfig({ ...production, JWT_ISSUER: 'koa-authenticators' }).warnings, [
      'JWT_ISSUER is the default, koa-authenticators. Another site with the same keys would accept the tokens of this one.',
    ])
    assert.deepEqual(readConfig(development).warnings, [])
  })

  test('rejects a SECRETS_KEY with a weak key, an invalid name or a repeated name, and prints no key', () => {
    const entry = `key1:${secretsKey}`
    const short = randomBytes(31).toString('base64')
    const bad = [
      secretsKey,
      `:${secretsKey}`,
      `a.b:${secretsKey}`,
      `key1:${short}`,
      `key1:${'A'.repeat(43)}=`,
    ]
    for (const value of [...bad, `${entry},${entry}`, `${entry},x`]) {
      const mistakes = mistakesOf({ ...production, SECRETS_KEY: value })
      assert.equal(mistakes.length, 1)
      assert.match(mistakes[0] ?? '', /^SECRETS_KEY must be NAME:KEY entries .* Create an entry with `echo /)
      assert.ok(!mistakes[0]?.includes(secretsKey))
    }
  })

  test('F2 warns of a directory or database that other users can access', (t) => {
    if (process.platform === 'win32') return t.skip('Windows has no such permission bits.')
    const DATA_DIR = join(directory, 'open')
    const warningsOf = () => readConfig({ ...production, DATA_DIR }).warnings
    assert.deepEqual(warningsOf(), [])

    mkdirSync(DATA_DIR)
    chmodSync(DATA_DIR, 0o755)
    assert.deepEqual(warningsOf(), [
      `Other users of this machine can access DATA_DIR. Run: chmod 700 ${DATA_DIR}`,
    ])
    chmodSync(DATA_DIR, 0o700)
    const database = join(DATA_DIR, 'site.sqlite')
    writeFileSync(database, '')
    for (const mode of [0o644, 0o640, 0o604, 0o620]) {
      chmodSync(database, mode)
      assert.deepEqual(warningsOf(), [
        `Other users of this machine can access the database. Run: chmod 600 ${database}*`,
      ])
    }
    chmodSync(database, 0o600)
    assert.deepEqual(warningsOf(), [])
  })

  test('accepts addresses and networks of proxies, and rejects other notations and a network of all addresses', () => {
    const { trustProxy } = readConfig({ ...development, TRUST_PROXY: '10.0.0.0/8, 192.168.1.1,fd00::/8' })

    assert.deepEqual(trustProxy, ['10.0.0.0/8', '192.168.1.1', 'fd00::/8'])
    for (const TRUST_PROXY of [
      'true',
      '10',
      '-1',
      '10.0.0.0/0',
      '10.0.0.0/33',
      '10.0.0.0/255.0.0.0',
      '0x7f.1/8',
      'loopback',
      '10.0.0.0/8/8',
      '::/0',
      '10.0.0.0/',
      ',',
    ]) {
      assert.equal(mistakesOf({ ...development, TRUST_PROXY }).length, 1, TRUST_PROXY)
    }
  })
})

describe('jwtKeys', () => {
  const pem = { type: 'pkcs8', format: 'pem' } as const
  const ed25519 = generateKeyPairSync('ed25519')
  const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })

  test('reads several secrets in order, and rejects a short or repeated secret', () => {
    const { jwtKeys } = readConfig({ ...development, JWT_SECRET: `new ${secret}, ${secret}` })

    assert.deepEqual(jwtKeys, { secrets: [`new ${secret}`, secret] })
    assert.equal(mistakesOf({ ...development, JWT_SECRET: `${secret},short` }).length, 1)
    assert.match(
      mistakesOf({ ...development, JWT_SECRET: `${secret},${secret}` }).join(),
      /^JWT_SECRET .*twice/,
    )
  })

  test('F3 rejects a long secret with few different characters, but only in production', () => {
    const weak = ['a'.repeat(32), 'abcdefg'.repeat(10), '0'.repeat(64)]
    for (const JWT_SECRET of weak) {
      assert.deepEqual(mistakesOf({ ...production, JWT_SECRET }), [
        `JWT_SECRET needs at least 32 random bytes in each entry. ${howToMakeSecret}`,
      ])
      assert.equal(mistakesOf({ ...production, JWT_SECRET: `${secret},${JWT_SECRET}` }).length, 1)
      assert.deepEqual(mistakesOf({ ...development, JWT_SECRET }), [])
    }
  })

  test('reads several files with private keys in PEM or JWK', () => {
    const files = [
      keyFile('new.pem', ed25519.privateKey.export(pem)),
      keyFile('old.json', p256.privateKey.export({ format: 'jwk' })),
    ]
    const { jwtKeys } = readConfig({ ...development, JWT_SECRET: undefined, JWT_KEYS: files.join(', ') })

    assert.equal(jwtKeys.keys?.length, 2)
    new JWTKeys({ ...jwtKeys, issuer: 'test', audience: 'test' })
  })

  test('rejects secrets together with files', () => {
    const JWT_KEYS = keyFile('one.pem', ed25519.privateKey.export(pem))

    assert.deepEqual(mistakesOf({ ...development, JWT_KEYS }), [
      'JWT_SECRET and JWT_KEYS are both set. Remove one of them.',
    ])
  })

  test('rejects a missing file, a directory, and each file without a supported private key', () => {
    const files = [
      keyFile('weak.pem', generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export(pem)),
      keyFile('curve.pem', generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export(pem)),
      keyFile('public.pem', ed25519.publicKey.export({ type: 'spki', format: 'pem' })),
      keyFile('public.json', ed25519.publicKey.export({ format: 'jwk' })),
      keyFile('secret.json', { kty: 'oct', k: Buffer.from(secret).toString('base64url') }),
      keyFile(
        'locked.pem',
        ed25519.privateKey.export({ ...pem, cipher: 'aes-256-cbc', passphrase: 'hunter2' }),
      ),
      keyFile('text.pem', 'no key at all'),
      keyFile('null.json', 'null'),
      join(directory, 'missing.pem'),
      directory,
    ]
    const mistakes = mistakesOf({ ...development, JWT_SECRET: undefined, JWT_KEYS: files.join() })

    assert.equal(mistakes.length, files.length)
    mistakes.forEach((line, index) => {
      const isFile = index < files.length - 2
      const start = isFile
        ? `cannot use ${files[index]}. `
        : `must be paths of private keys, separated by commas. Entry ${index + 1} `
      assert.ok(line.startsWith(`JWT_KEYS ${start}`), line)
      assert.ok(line.endsWith('.') && !line.endsWith('..') && !line.includes('\n'), line)
    })
  })
})

describe('ConfigError', () => {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const jwk = JSON.stringify(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }))

  test('O2 does not repeat a key that was set instead of a file name', () => {
    const [, line = ''] = pem.split('\n')
    for (const key of [
      pem,
      pem.replaceAll('\n', '\\n'),
      line,
      jwk,
      `{"keys":[${jwk}]}`,
      `x${'y'.repeat(5000)}`,
    ]) {
      const mistakes = mistakesOf({ ...development, JWT_SECRET: undefined, JWT_KEYS: key })
      assert.deepEqual(
        mistakes,
        key
          .split(',')
          .map(
            (_, i) =>
              `JWT_KEYS must be paths of private keys, separated by commas. Entry ${i + 1} is not a readable file.`,
          ),
      )
    }
  })

  test('O2 repeats no password from a variable other than DATA_DIR and PROVIDERS', () => {
    const names = readFileSync('.env.example', 'utf8').matchAll(/^#?([A-Z_]+)=/gm)
    const all = [...names].map(([, name = '']) => name)
    assert.ok(all.length > 10)
    const values = [
      'hunter2',
      'postgres://me:hunter2@db/site',
      'https://me:hunter2@example.com',
      'hunter2\nhunter2',
    ]
    for (const value of values) {
      for (const variables of [
        ...all.map((name) => ({ ...production, [name]: value })),
        Object.fromEntries(all.map((name) => [name, value])),
        { ...Object.fromEntries(all.map((name) => [name, value])), NODE_ENV: 'production' },
      ]) {
        const mistakes = mistakesOf({ ...variables, DATA_DIR: production.DATA_DIR, PROVIDERS: undefined })
        assert.doesNotMatch(mistakes.join(), /hunter2/)
      }
    }
  })
})

describe('the secret in development', () => {
  test('is created once, in a file that only its owner can read', () => {
    const DATA_DIR = join(directory, 'a', 'b')
    const { jwtKeys, secretsKeys } = readConfig({ DATA_DIR })
    const file = join(DATA_DIR, 'jwt-secret')

    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.ok(readFileSync(file, 'utf8').length >= 43)
    assert.equal(statSync(join(DATA_DIR, 'secrets-key')).mode & 0o777, 0o600)
    assert.deepEqual(readConfig({ DATA_DIR }).jwtKeys, jwtKeys)
    assert.deepEqual(readConfig({ DATA_DIR }).secretsKeys, secretsKeys)
    assert.deepEqual(readdirSync(DATA_DIR), ['jwt-secret', 'secrets-key'])
  })

  test('causes an error of one line if it is damaged, or if DATA_DIR is not a directory', () => {
    const DATA_DIR = join(directory, 'damaged')
    readConfig({ DATA_DIR })
    writeFileSync(join(DATA_DIR, 'jwt-secret'), 'cut off')

    assert.match(
      mistakesOf({ DATA_DIR }).join('\n'),
      /^DATA_DIR contains a damaged secret\. Delete .*jwt-secret\. The next start .*$/,
    )
    assert.match(
      mistakesOf({ DATA_DIR: keyFile('a-file', '') }).join('\n'),
      /^DATA_DIR is not a writable directory \(ENOTDIR\)\. .*$/,
    )
    // Below /proc, Node's own recursive mkdir never returns.
    if (process.platform === 'linux') assert.equal(mistakesOf({ DATA_DIR: '/proc/none/data' }).length, 1)
  })
})

describe('readStorage', () => {
  test('needs no secret and creates no file', () => {
    const DATA_DIR = join(directory, 'storage')
    const storage = readPart({ NODE_ENV: 'production', DATA_DIR, PORT: 'x' }, readStorage)

    assert.deepEqual(storage, {
      profile: 'production',
      production: true,
      siteName: 'koa-authenticators',
      dataDir: DATA_DIR,
      databaseUrl: `sqlite:${DATA_DIR}/site.sqlite`,
      databasePool: 10,
      bcryptCost: 12,
    })
    assert.throws(() => statSync(DATA_DIR))
  })

  test('reports all mistakes together', () => {
    const wrong = { NODE_ENV: 'production', BCRYPT_COST: '4', DATABASE_URL: 'sqlite:' }

    assert.throws(() => readPart(wrong, readStorage), {
      name: 'ConfigError',
      message:
        'DATABASE_URL must be sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE.\nBCRYPT_COST must be a whole number from 10 to 15.',
    })
  })
})
