import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { MailServer } from '../config/mail.ts'
import { startProxy } from '../testing/database-proxy.ts'
import { until } from '../testing/faults/until.ts'
import { type MailServerOptions, startMailServer } from '../testing/mail-server.ts'
import { DeliveryError, type Message } from './message.ts'
import { smtp } from './smtp.ts'

const from = { name: 'Ada’s site', address: 'no-reply@site.example' }
const credentials = { user: 'us@er', password: 'p:w/%é "\\' }
const message: Message = {
  id: '01932c07-209f-7000-8000-000000000000.1',
  kind: 'reset',
  to: 'ada@example.com',
  subject: 'Łucja: a subject',
  text: 'https://site.example/reset?token=a-long-token\n',
  html: '<p>https://site.example/reset?token=a-long-token</p>',
}
const never = new AbortController().signal

/** A mail server whose certificate is trusted, and a function that sends to it. */
async function open(t: TestContext, options: MailServerOptions = {}, changes: Partial<MailServer> = {}) {
  const server = await startMailServer(t, options)
  setDefaultCACertificates([...getCACertificates(), server.certificate.cert])
  t.after(() => setDefaultCACertificates(getCACertificates('bundled')))
  const security = options.security === 'tls' ? 'tls' : 'starttls'
  const config: MailServer = { host: '127.0.0.1', port: server.port, security, credentials: undefined }
  const send = (each: Partial<Message> = {}, signal = never) =>
    smtp({ ...config, ...changes }, from)({ ...message, ...each }, signal)
  return { server, send, config }
}

/** Asserts that the delivery fails, and that the error contains no text of the mail or of the server. */
async function assertFails(sent: Promise<unknown>, expected: Partial<DeliveryError>): Promise<void> {
  await assert.rejects(sent, (error) => {
    assert.ok(error instanceof DeliveryError)
    const { code, responseCode, isFinal } = error
    const all = { code, responseCode: undefined, isFinal: false, ...expected }
    assert.deepEqual({ code, responseCode, isFinal }, all)
    assert.equal(error.cause, undefined)
    assert.doesNotMatch(error.stack ?? '', /example|token|refused|p:w/)
    return true
  })
}

describe('smtp', () => {
  test('sends one mail with TLS and a password', async (t) => {
    for (const security of ['tls', 'starttls'] as const) {
      const { server, send } = await open(t, { security, credentials }, { credentials })
      assert.deepEqual(await send(), {})
      assert.equal(server.mails.length, 1)
      const [mail = assert.fail()] = server.mails
      assert.deepEqual(
        [mail.from, mail.to, mail.isEncrypted, mail.user],
        ['no-reply@site.example', ['ada@example.com'], true, credentials.user],
      )
      assert.deepEqual([mail.text.trim(), mail.html.trim()], [message.text.trim(), message.html])
      const { date, 'content-type': type, 'mime-version': version, ...headers } = mail.headers
      assert.ok(Math.abs(Date.parse(date ?? '') - Date.now()) < 60_000)
      assert.match(type ?? '', /^multipart\/alternative;/)
      assert.equal(version, '1.0')
      assert.deepEqual(headers, {
        from: 'Ada’s site <no-reply@site.example>',
        to: 'ada@example.com',
        subject: message.subject,
        'message-id': `<${message.id}@site.example>`,
        'auto-submitted': 'auto-generated',
      })
    }
  })

  test('sends without TLS only with the security `loopback`', async (t) => {
    const { server, send, config } = await open(t, { security: 'none' })
    await assertFails(send(), { code: 'ETLS', responseCode: 500 })
    assert.equal(server.attempts.count, 0)
    await smtp({ ...config, security: 'loopback' }, from)(message, never)
    assert.deepEqual(
      server.mails.map(({ isEncrypted }) => isEncrypted),
      [false],
    )
  })

  test('accepts any certificate for STARTTLS with the security `loopback`', async (t) => {
    const server = await startMailServer(t)
    const config = { host: '127.0.0.1', port: server.port, credentials: undefined }
    await smtp({ ...config, security: 'loopback' }, from)(message, never)
    assert.deepEqual(
      server.mails.map(({ isEncrypted }) => isEncrypted),
      [true],
    )
  })

  test('does not send to a server whose certificate is not trusted', async (t) => {
    for (const security of ['tls', 'starttls'] as const) {
      const { server, send } = await open(t, { security })
      setDefaultCACertificates(getCACertificates('bundled'))
      await assertFails(send(), { code: 'ESOCKET' })
      assert.equal(server.attempts.count, 0)
    }
  })

  test('fails if the server does not accept the password', async (t) => {
    const { server, send } = await open(
      t,
      { credentials },
      { credentials: { ...credentials, password: 'x' } },
    )
    await assertFails(send(), { code: 'EAUTH', responseCode: 535 })
    const { server: open2, send: send2 } = await open(t, {}, { credentials })
    await assertFails(send2(), { code: 'EAUTH', responseCode: 500 })
    assert.deepEqual([server.attempts.count, open2.attempts.count], [0, 0])
  })

  test('fails permanently if the server rejects the recipient or the content with 5xx, and temporarily with 4xx', async (t) => {
    const { server, send } = await open(t)
    for (const command of ['recipient', 'data'] as const) {
      for (const [reply, isFinal] of [
        [550, true],
        [554, true],
        [421, false],
        [451, false],
      ] as const) {
        server.replies[command] = reply
        await assertFails(send(), { responseCode: reply, isFinal })
      }
      server.replies[command] = 250
    }
    assert.equal(server.mails.length, 0)
    await send()
    assert.equal(server.mails.length, 1)
  })

  test('P13 fails temporarily if the server needs TLS or a sign-in, or rejects the sender', async (t) => {
    const { server, send } = await open(t)
    const anywhere = [530, 534, 535, 538, '554 5.7.1', '553 5.1.8'] as const
    for (const [command, replies] of [
      ['sender', [550, 553, 554, ...anywhere]],
      ['recipient', anywhere],
      ['data', anywhere],
    ] as const)
      for (const reply of replies) {
        server.replies[command] = reply
        await assertFails(send(), { responseCode: Number.parseInt(String(reply), 10) })
        server.replies[command] = 250
      }
    assert.equal(server.mails.length, 0)
  })

  test('sends a long link in one line of the source', async (t) => {
    const { server, send } = await open(t)
    const link = `https://accounts.site.example/reset?token=${'x'.repeat(80)}`
    await send({ text: `“Link”:\n${link}\n`, html: `<p>“Link”: <a href="${link}">${link}</a></p>` })
    const [mail = assert.fail()] = server.mails
    assert.match(mail.raw, /^Content-Transfer-Encoding: base64\r$/m)
    assert.doesNotMatch(mail.raw, /quoted-printable/)
    assert.ok(mail.text.split('\n').includes(link))
    assert.ok(mail.html.includes(`href="${link}"`))
  })

  test('fails if the connection is refused, or ends during DATA', async (t) => {
    const { server, config } = await open(t)
    const proxy = await startProxy(t, `smtp://127.0.0.1:${server.port}`)
    const deliver = smtp({ ...config, port: Number(new URL(proxy.url).port) }, from)
    server.hooks.onData = async () => proxy.reset()
    await assertFails(deliver(message, never), { code: 'ECONNECTION' })
    proxy.refuse()
    await assertFails(deliver(message, never), { code: 'ESOCKET' })
    proxy.recover()
    server.hooks.onData = async () => {}
    server.mails.length = 0
    await deliver(message, never)
    assert.equal(server.mails.length, 1)
  })

  test('fails when the signal is aborted, and closes the connection to a slow server', async (t) => {
    const sockets: Socket[] = []
    const slow = createServer((socket) => {
      sockets.push(socket)
      // Writes so often that no idle timeout applies.
      const timer = setInterval(() => socket.write('2'), 20)
      socket.on('error', () => {}).on('close', () => clearInterval(timer))
    }).listen(0, '127.0.0.1')
    t.after(() => void slow.close())
    await once(slow, 'listening')
    const { port } = slow.address() as AddressInfo
    for (const security of ['starttls', 'loopback'] as const) {
      const deliver = smtp({ host: '127.0.0.1', port, security, credentials: undefined }, from)
      const controller = new AbortController()
      slow.once('connection', () => controller.abort())
      await assertFails(deliver(message, controller.signal), { code: 'ETIMEDOUT' })
      await assertFails(deliver(message, AbortSignal.abort()), { code: 'ETIMEDOUT' })
    }
    await until('the connections are closed', () => sockets.every(({ closed }) => closed))
  })

  test('Q6 rejects an address that could add a recipient', async (t) => {
    const { server, send } = await open(t)
    for (const to of [
      'ada@example.com, mallory@evil.example',
      'ada@example.com;mallory@evil.example',
      'ada@example.com mallory@evil.example',
      'Ada <ada@example.com>',
      'group: ada@example.com, mallory@evil.example;',
      '"ada@example.com, x"@evil.example',
      'ada@example.com\r\nRCPT TO:<mallory@evil.example>',
      'ada@example.com>\r\nDATA',
      '',
    ])
      await assertFails(send({ to }), { code: 'ERECIPIENT', isFinal: true })
    assert.equal(server.attempts.count, 0)
  })

  test('Q6 prevents text from adding headers or commands', async (t) => {
    const injected = 'x\r\nBcc: mallory@evil.example\r\n\r\n.\r\nMAIL FROM:<x@evil.example>\r\n'
    const { server, config } = await open(t)
    const deliver = smtp(config, { ...from, name: injected })
    await deliver({ ...message, subject: injected, text: `${message.text}\r\n.\r\n${injected}` }, never)
    const [mail = assert.fail(), ...others] = server.mails
    assert.deepEqual([others, mail.to], [[], ['ada@example.com']])
    assert.deepEqual(Object.keys(mail.headers).sort(), [
      ...['auto-submitted', 'content-type', 'date', 'from', 'message-id', 'mime-version', 'subject', 'to'],
    ])
    assert.match(mail.text, /\n\.\n/)
  })
})
