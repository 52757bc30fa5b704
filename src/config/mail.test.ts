import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Environment, type Variables } from './environment.ts'
import { readMail } from './mail.ts'

const sender = { MAIL_FROM: 'no-reply@example.com' }

function read(variables: Variables, production = false) {
  const environment = new Environment(variables)
  const mail = readMail(environment, { production, dataDir: '/srv/data' })
  environment.throwMistakes()
  return mail
}

describe('readMail', () => {
  test('chooses the folder DATA_DIR/mail if there is no mail server, except in production', () => {
    const folder = join('/srv/data', 'mail')
    const from = { name: '', address: 'no-reply@localhost' }
    assert.deepEqual(read({}), { server: undefined, from, folder })
    assert.deepEqual(read(sender)?.from, { name: '', address: 'no-reply@example.com' })
    assert.equal(read({}, true), undefined)
    assert.equal(read(sender, true), undefined)
  })

  test('reads the server, and decodes the user and the password', () => {
    const server = (SMTP_URL: string) => read({ ...sender, SMTP_URL }, true)?.server
    const credentials = { user: 'us@er', password: 'p:w/%é' }
    assert.deepEqual(server('smtps://us%40er:p%3Aw%2F%25%C3%A9@mail.example.com'), {
      host: 'mail.example.com',
      port: 465,
      security: 'tls',
      credentials,
    })
    const relay = { host: 'relay', port: 587, security: 'starttls', credentials: undefined }
    assert.deepEqual(server('smtp://relay'), relay)
    assert.deepEqual(server('smtp://relay:2525/'), { ...relay, port: 2525 })
  })

  test('requires TLS, except on the same machine', () => {
    const security = (SMTP_URL: string) => read({ ...sender, SMTP_URL })?.server?.security
    for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '127.3.2.1', '[::1]'])
      assert.equal(security(`smtp://${host}:25`), 'loopback', host)
    for (const host of [
      'mail.example.com',
      '10.0.0.1',
      '[fd00::1]',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
    ])
      assert.equal(security(`smtp://${host}:25`), 'starttls', host)
    assert.equal(security('smtps://localhost'), 'tls')
  })

  test('N1 O2 rejects an invalid server in one line without the password', () => {
    const message =
      'SMTP_URL must be smtps://USER:PASSWORD@HOST:465 or smtp://USER:PASSWORD@HOST:587, with %40 for @.'
    for (const SMTP_URL of [
      'mail.example.com',
      'http://me:hunter2@mail.example.com',
      'smtp://me:hunter2@',
      'smtp://me@mail.example.com',
      'smtp://:hunter2@mail.example.com',
      'smtp://me:hunter2@mail.example.com:0',
      'smtp://me:hunter2@mail.example.com:99999',
      'smtp://me:hunter2@mail.example.com/path',
      'smtp://me:hunter2@mail.example.com?requireTLS=false',
      'smtp://me:hunter2@mail.example.com#x',
      'smtp://me:hunter2%@mail.example.com',
      'smtp://me:hunter2%0d%0a@mail.example.com',
      'smtp://me:hunter2@mail%00.example.com',
      'smtp://me:hunter2@mail example.com',
    ])
      assert.throws(() => read({ ...sender, SMTP_URL }), { name: 'ConfigError', message }, SMTP_URL)
  })

  test('reads the sender, with or without a name', () => {
    const from = (MAIL_FROM: string) => read({ MAIL_FROM })?.from
    const address = 'no-reply@example.com'
    assert.deepEqual(from(address), { name: '', address })
    assert.deepEqual(from(`Ada’s site <${address}>`), { name: 'Ada’s site', address })
    assert.deepEqual(from(`"Ada, Inc." <${address}>`), { name: 'Ada, Inc.', address })
    assert.deepEqual(from(`<${address}>`), { name: '', address })
    // A quoted string with escapes (RFC 5322 §3.2.4).
    assert.deepEqual(from(`"Ada \\"x\\" \\\\ <y>" <${address}>`), { name: 'Ada "x" \\ <y>', address })
    assert.deepEqual(from(`Ada "x" y <${address}>`), { name: 'Ada "x" y', address })
  })

  test('rejects an invalid sender, and a missing one if SMTP_URL is set', () => {
    const expected = 'an e-mail address, or a name and an address: Example <no-reply@example.com>'
    for (const MAIL_FROM of [
      'Example',
      'Example <no-reply>',
      'no-reply@localhost',
      'a@example.com, b@example.com',
      'Example <a@example.com> <b@example.com>',
      'Exam\nple <no-reply@example.com>',
      'Exam\u202eple <no-reply@example.com>',
      `${'x'.repeat(101)} <no-reply@example.com>`,
    ])
      assert.throws(() => read({ MAIL_FROM }), { message: `MAIL_FROM must be ${expected}.` }, MAIL_FROM)
    assert.throws(() => read({ SMTP_URL: 'smtp://localhost' }), {
      message: `MAIL_FROM is missing, but SMTP_URL is set. It must be ${expected}.`,
    })
  })
})
