import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import Koa from 'koa'
import { basicAuthorization, bearerAuthorization } from './authorization.ts'
import { rawRequest } from './testing/raw-request.ts'
import { serve } from './testing/serve.ts'

const base64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64')

/** Responds with the parsed header: `{ basic, bearer }`. */
function echo(): Koa {
  const app = new Koa()
  app.use((ctx) => {
    ctx.body = { basic: basicAuthorization(ctx.req), bearer: bearerAuthorization(ctx.req) }
  })
  return app
}

/** Sends header values in sequence on one connection, even values that `fetch` rejects. */
function sender(t: { after(end: () => void): void }, port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  return async (authorization: string): Promise<{ status: number; said: Record<string, unknown> }> => {
    const sent = request({ port, host: '127.0.0.1', agent, headers: { authorization } }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const text = Buffer.concat(await response.toArray()).toString()
    return { status: response.statusCode ?? 0, said: JSON.parse(text) }
  }
}

describe('basicAuthorization', () => {
  const ada = { username: 'ada', password: 'secret' }
  const understood: [string, string, { username: string; password: string }][] = [
    ['the plain form', `Basic ${base64('ada:secret')}`, ada],
    ['a scheme in lower case', `basic ${base64('ada:secret')}`, ada],
    ['a scheme in upper case', `BASIC ${base64('ada:secret')}`, ada],
    ['a scheme in mixed case', `bAsIc ${base64('ada:secret')}`, ada],
    ['many spaces', `Basic     ${base64('ada:secret')}`, ada],
    ['space around the value', `  Basic ${base64('ada:secret')}  `, ada],
    ['a colon in the password', `Basic ${base64('ada:a:b::c')}`, { username: 'ada', password: 'a:b::c' }],
    ['a password of colons', `Basic ${base64('ada:::')}`, { username: 'ada', password: '::' }],
    ['an empty password', `Basic ${base64('ada:')}`, { username: 'ada', password: '' }],
    ['an empty name', `Basic ${base64(':secret')}`, { username: '', password: 'secret' }],
    ['only a colon', `Basic ${base64(':')}`, { username: '', password: '' }],
    ['spaces in both', `Basic ${base64(' a d a : s ')}`, { username: ' a d a ', password: ' s ' }],
    ['umlauts', `Basic ${base64('jürgen:größe')}`, { username: 'jürgen', password: 'größe' }],
    ['an emoji', `Basic ${base64('ada:🙂')}`, { username: 'ada', password: '🙂' }],
    ['a byte order mark', `Basic ${base64('\u{feff}ada:x')}`, { username: '\u{feff}ada', password: 'x' }],
    ['no padding needed', `Basic ${base64('ad:secret')}`, { username: 'ad', password: 'secret' }],
    ['two characters of padding', `Basic ${base64('ada:sec')}`, { username: 'ada', password: 'sec' }],
    ['a plus and a slash', 'Basic YTo+Pz8/', { username: 'a', password: '>???' }],
    ['a decomposed accent', `Basic ${base64('e\u0301:x')}`, { username: 'e\u0301', password: 'x' }],
    ['an escaped NUL', `Basic ${base64('ada:\\0')}`, { username: 'ada', password: '\\0' }],
    ['10 KB', `Basic ${base64(`ada:${'x'.repeat(7500)}`)}`, { username: 'ada', password: 'x'.repeat(7500) }],
  ]
  const none: [string, string][] = [
    ['another scheme', `Bearer ${base64('ada:secret')}`],
    ['a longer scheme', `Basics ${base64('ada:secret')}`],
    ['a scheme with a prefix', `XBasic ${base64('ada:secret')}`],
    ['a lone scheme', 'Basic'],
    ['a lone scheme and space', 'Basic   '],
    ['no scheme', base64('ada:secret')],
    ['no space', `Basic${base64('ada:secret')}`],
    ['a tab for the space', `Basic\t${base64('ada:secret')}`],
    ['a tab after the space', `Basic \t${base64('ada:secret')}`],
    ['a colon for the space', `Basic:${base64('ada:secret')}`],
    ['an equals sign for the space', `Basic=${base64('ada:secret')}`],
    ['a second word', `Basic ${base64('ada:secret')} x`],
    ['the scheme twice', `Basic Basic ${base64('ada:secret')}`],
    ['a comma at the end', `Basic ${base64('ada:secret')},`],
    ['a list of two', `Basic ${base64('ada:secret')}, Basic ${base64('ada:secret')}`],
    ['a list with another scheme', `Basic ${base64('ada:secret')}, Bearer abc`],
    ['parameters', 'Basic username="ada", password="secret"'],
    ['quotes', `Basic "${base64('ada:secret')}"`],
    ['percent-encoding', 'Basic YWRhOnNlYw%3D%3D'],
    ['missing padding', 'Basic YWRhOnNlYw'],
    ['half of the padding', 'Basic YWRhOnNlYw='],
    ['too much padding', `Basic ${base64('ad:secret')}=`],
    ['padding alone', 'Basic ===='],
    ['padding in the middle', 'Basic YWRh=OnNlYw='],
    ['non-zero unused bits', 'Basic YWRhOnNlYx=='],
    ['non-zero unused bits, one character of padding', 'Basic YWRhOnNlY3J='],
    ['the alphabet of base64url', 'Basic YTo-Pz8_'],
    ['an invalid character', 'Basic YWRh~OnNlYw=='],
    ['a lone character', 'Basic Y'],
    ['no colon', `Basic ${base64('ada')}`],
    ['nothing', `Basic ${base64('')}`],
    ['a NUL in the name', `Basic ${base64('a\0da:secret')}`],
    ['a NUL in the password', `Basic ${base64('ada:sec\0ret')}`],
    ['a tab', `Basic ${base64('ada:sec\tret')}`],
    ['a line feed at the end', `Basic ${base64('ada:secret\n')}`],
    ['a carriage return', `Basic ${base64('ada\r:secret')}`],
    ['an escape', `Basic ${base64('ada:\u001b[31m')}`],
    ['a DEL', `Basic ${base64('ada:\u007f')}`],
    ['a C1 control', `Basic ${base64('ada:\u0085')}`],
    ['Latin-1', `Basic ${base64(Buffer.from('jürgen:x', 'latin1'))}`],
    ['an incomplete UTF-8 sequence', `Basic ${base64(Buffer.from([0x61, 0x3a, 0xe2, 0x82]))}`],
    ['an overlong NUL', `Basic ${base64(Buffer.from([0x61, 0x3a, 0xc0, 0x80]))}`],
    ['an overlong colon', `Basic ${base64(Buffer.from([0x61, 0xc0, 0xba, 0x62]))}`],
    ['an encoded surrogate', `Basic ${base64(Buffer.from([0x61, 0x3a, 0xed, 0xa0, 0x80]))}`],
    ['a code point out of range', `Basic ${base64(Buffer.from([0x61, 0x3a, 0xf4, 0x90, 0x80, 0x80]))}`],
    ['UTF-16', `Basic ${base64(Buffer.from('\u{feff}ada:x', 'utf16le'))}`],
    ['Latin-1 before the scheme', `\u00efBasic ${base64('ada:secret')}`],
    ['Latin-1 at the end', `Basic ${base64('ada:secret')}\u00ff`],
    ['a no-break space', `Basic\u00a0${base64('ada:secret')}`],
    ['15 KB of junk', `Basic ${'('.repeat(15_000)}`],
    ['15 KB of spaces', `Basic${' '.repeat(15_000)}x y`],
  ]

  test('S22 S68 reads name and password', async (t) => {
    const send = sender(t, (await serve(t, echo())).port)

    for (const [what, header, basic] of understood) {
      assert.deepEqual(await send(header), { status: 200, said: { basic } }, what)
    }
  })

  test('A2 ignores other header values without an error', async (t) => {
    const send = sender(t, (await serve(t, echo())).port)

    for (const [what, header] of none) {
      const { status, said } = await send(header)
      assert.equal(status, 200, what)
      assert.equal(said.basic, undefined, what)
    }
  })

  test('A2 S23 reads generated names and passwords byte for byte', async (t) => {
    const send = sender(t, (await serve(t, echo())).port)
    const codePoint = fc.oneof(
      fc.integer({ min: 0x20, max: 0x7e }),
      fc.integer({ min: 0xa0, max: 0xd7ff }),
      fc.integer({ min: 0xe000, max: 0x10ffff }),
    )
    const text = fc.array(codePoint, { maxLength: 20 }).map((each) => String.fromCodePoint(...each))

    await fc.assert(
      fc.asyncProperty(text, text, async (name, password) => {
        const username = name.replaceAll(':', '')
        const { said } = await send(`Basic ${base64(`${username}:${password}`)}`)
        assert.deepEqual(said, { basic: { username, password } })
      }),
      { numRuns: 200 },
    )
  })
})

describe('bearerAuthorization', () => {
  test('S24 S73 reads the token', async (t) => {
    const send = sender(t, (await serve(t, echo())).port)

    for (const [header, token] of [
      ['Bearer abc', 'abc'],
      ['bearer abc', 'abc'],
      ['BEARER abc', 'abc'],
      ['bEaReR    abc', 'abc'],
      ['Bearer a.b-c_d~e+f/g==', 'a.b-c_d~e+f/g=='],
      ['Bearer eyJhbGciOiJIUzI1NiJ9.e30.c2ln', 'eyJhbGciOiJIUzI1NiJ9.e30.c2ln'],
      ['Bearer 0', '0'],
      [`Bearer ${'x'.repeat(12_000)}`, 'x'.repeat(12_000)],
    ] as const) {
      assert.deepEqual(await send(header), { status: 200, said: { bearer: { token } } }, header.slice(0, 40))
    }
  })

  test('ignores other header values', async (t) => {
    const send = sender(t, (await serve(t, echo())).port)

    for (const header of [
      'Bearer',
      'Bearer ',
      'Bearer =',
      'Bearer a=b',
      'Bearer a b',
      'Bearer a,b',
      'Bearer a, Bearer a',
      'Bearer\tabc',
      'Bearer abc\tx',
      'Bearer "abc"',
      'Bearer token="abc"',
      'Bearer abc;x',
      'Bearer a%20b',
      'Bearer \u00e4',
      'Bearer $abc',
      'Bearers abc',
      'Token abc',
      'abc',
      ',Bearer abc',
      'Bearer: abc',
    ]) {
      const { status, said } = await send(header)
      assert.equal(status, 200, header)
      assert.equal(said.bearer, undefined, header)
    }
  })

  test('A4 never reads a token from the query or the body', async (t) => {
    const { url } = await serve(t, echo())

    const response = await fetch(`${url}/?access_token=abc`, {
      method: 'POST',
      body: new URLSearchParams({ access_token: 'abc' }),
    })

    assert.deepEqual(await response.json(), {})
  })
})

describe('an Authorization header', () => {
  test('is ignored if it occurs twice, in any letter case and position', async (t) => {
    const { port } = await serve(t, echo())
    const basic = `Basic ${base64('ada:secret')}`

    for (const lines of [
      [`Authorization: ${basic}`, `Authorization: ${basic}`],
      [`Authorization: ${basic}`, 'AUTHORIZATION: Bearer abc'],
      ['authorization: Bearer abc', 'X-Other: 1', `aUtHoRiZaTiOn: ${basic}`],
      ['Authorization: Bearer abc', 'Authorization:'],
      ['Authorization:', 'Authorization: Bearer abc'],
    ]) {
      const { status, text } = await rawRequest(port, lines)
      assert.equal(status, 200, String(lines))
      assert.ok(text.endsWith('\r\n\r\n{}'), text)
    }
    const once = await rawRequest(port, ['authorization: Bearer abc', 'X-Authorization: Bearer abc'])
    assert.ok(once.text.endsWith('{"bearer":{"token":"abc"}}'))
  })

  test('A1 never causes an error: 600 generated values', async (t) => {
    const send = sender(t, (await serve(t, echo())).port)
    const scheme = fc.constantFrom('Basic', 'bearer', 'BEARER', 'basic', 'Digest', '', 'Basic,', 'Bearer=')
    const gap = fc.constantFrom('', ' ', '  ', '\t', ' \t ', ', ', '%20')
    const tail = fc.constantFrom('', '', '', ' x', ',', ', Basic YTpi', '\t', '=')
    const latin1 = fc.string({
      unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
    })
    const word = fc.oneof(
      fc.base64String(),
      fc.uint8Array().map(base64),
      latin1,
      fc.constant('%'.repeat(2000)),
    )

    await fc.assert(
      fc.asyncProperty(scheme, gap, word, tail, async (...parts) => {
        // The client cannot send DEL.
        const { status, said } = await send(parts.join('').replaceAll('\u007f', ''))
        assert.equal(status, 200)
        assert.ok(Object.keys(said).length <= 1)
      }),
      { numRuns: 600 },
    )
  })
})
