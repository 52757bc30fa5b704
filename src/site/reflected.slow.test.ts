import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { rawRequest } from '../auth/testing/raw-request.ts'
import { sql } from '../testing/database.ts'
import { basic, password } from '../testing/people.ts'
import type { Answer } from '../testing/promises.ts'
import { companyClient } from '../testing/provider-site.ts'
import { others, routes } from '../testing/routes.ts'
import { siteWithAda } from '../testing/site-with-ada.ts'

const poisoned = {
  host: 'evil.example',
  'x-forwarded-host': 'evil.example',
  'x-host': 'evil.example',
  'x-forwarded-server': 'evil.example',
  'x-http-host-override': 'evil.example',
  'x-forwarded-prefix': '/evil',
  'x-forwarded-path': '/evil',
  'x-original-url': '/evil',
  'x-rewrite-url': '/evil',
  'x-forwarded-port': '6666',
  forwarded: 'host=evil.example;proto=https',
  referer: 'https://evil.example/',
}

/** Prefixes that escape from an HTML context, and payloads of HTML, scripts and templates. */
const escapes = ['', '">', "'>", '</title>', '</textarea>', '--></script>']
const runs = [
  ...[
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<svg/onload=alert(1)>',
    '<base href=//evil.example>',
  ],
  ...[
    '<iframe srcdoc="<script>alert(1)</script>">',
    '<a href="javascript:alert(1)">x</a>',
    '<form action=//evil.example>',
  ],
  ...[
    '<meta http-equiv=refresh content=0;url=//evil.example>',
    '" autofocus onfocus=alert(1) x="',
    "' onmouseover='alert(1)",
  ],
  ...[
    '{{constructor.constructor("alert(1)")()}}',
    '<%= 7*7 %>',
    '<%~ it %>',
    '$'.concat('{7*7}'),
    '&lt;script&gt;',
    '&#60;b&#62;',
  ],
  ...[
    '%3Cscript%3E',
    '\ufeff<script>',
    '<scr\u200bipt>',
    '＜script＞',
    '<ſcript>',
    '<<b>//<',
    '`<b>`',
    "\\'-alert(1)//",
    ']]>',
    '<!--',
  ],
]
const payloads = escapes.flatMap((prefix) => runs.map((run) => prefix + run))

/** Texts of twelve payloads each. */
const packed = Array.from({ length: Math.ceil(payloads.length / 12) }, (_, i) =>
  payloads.slice(12 * i, 12 * i + 12).join(''),
)

/** The tags of a page with their attribute names, without text and values. An injected tag would change them. */
function tagsOf({ text, headers }: Answer): string[] {
  // With `nosniff`, a browser renders no other type as a page.
  if (!headers['content-type']?.startsWith('text/html')) return [String(headers['content-type'])]
  // The icon of a device depends on its name.
  const withoutIcons = text.replaceAll(/<svg class="icon".*?<\/svg>/gs, '')
  return (withoutIcons.match(/<[^>]*>?/g) ?? []).map((tag) => tag.replaceAll(/="[^"]*"/g, '=""'))
}

describe('host headers of a request', () => {
  test('H4 I3 change no page, link or redirect if PUBLIC_URL is set', async (t) => {
    const { site, ada } = await siteWithAda(t, {
      PUBLIC_URL: 'https://auth.example',
      TRUST_PROXY: '1',
      ...companyClient('http://localhost:9'),
    })
    for (const { method, path } of [...routes, ...others]) {
      for (const visitor of method === 'GET' ? [ada, site.visitor()] : [site.visitor()]) {
        const answer = await visitor.send(method, path, { accept: 'text/html', ...poisoned })
        assert.doesNotMatch(answer.text + JSON.stringify(answer.headers), /evil|6666/, answer.request)
      }
    }
    const port = Number(new URL(site.url).port)
    for (const target of ['http://evil.example/account', 'http://evil.example/', '//evil.example/account']) {
      const { text } = await rawRequest(port, ['Accept: text/html'], `GET ${target} HTTP/1.1`)
      assert.doesNotMatch(text, /location: [^/]|location: \/\/|href="[^"]*evil|action="[^"]*evil/i, target)
    }
  })

  test('H4 change no link or redirect without PUBLIC_URL: only the text of a page may contain the requested host', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const { host: _, ...others } = poisoned
    for (const { path } of routes.filter(({ method }) => method === 'GET')) {
      for (const visitor of [ada, site.visitor()]) {
        const { text, headers, request } = await visitor.page(path, poisoned)
        assert.doesNotMatch(text, /(href|action|src)="[^"]*evil/, request)
        assert.doesNotMatch(headers.location ?? '', /evil/, request)
        assert.ok(!(await visitor.page(path, others)).text.includes('evil'), request)
      }
    }
  })
})

describe('input of a user', () => {
  test('L1 is escaped when it is reflected from forms, paths, queries and headers', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const repeat = async (payload: string): Promise<Answer[]> => {
      const text = encodeURIComponent(payload)
      const typed = {
        name: `${payload}${'x'.repeat(101)}`,
        email: payload,
        password: 'x',
        confirmPassword: 'y',
      }
      const next = { username: payload, password: 'x', next: `/${payload}`, remember: payload }
      return [
        await site.visitor().form('/users', typed),
        await site.visitor().form('/login', next),
        await site.visitor().page(`/login?next=/${text}`),
        await site.visitor().page(`/x${text}`, { referer: text }),
        await site.visitor().page(`/account?${text}=${text}`),
        await ada.page(`/account/tokens?before=${text}`),
        await ada.form('/account/name', { name: `${payload}${'x'.repeat(101)}` }),
        await ada.form('/account/tokens', { name: `${payload}${'x'.repeat(101)}`, days: payload }),
        await ada.form('/account/close', { password: 'x', confirm: payload }),
        await ada.form(`/account/tokens/${text}/revoke`, {}),
        await ada.form(`/account/sessions/${text}/end`, {}),
      ]
    }
    const plain = (await repeat('plain')).map(tagsOf)
    // Without a valid `next`, the page has no notice.
    const withoutNotice = tagsOf(await site.visitor().page('/login?next=plain'))
    assert.ok(payloads.length >= 150)
    for (const payload of packed) {
      const answers = await repeat(payload)
      for (const [i, answer] of answers.entries()) {
        const isWithoutNotice = i === 2 && !answer.text.includes('Sign in to see that page.')
        assert.deepEqual(
          tagsOf(answer),
          isWithoutNotice ? withoutNotice : plain[i],
          `${answer.request} ${payload}`,
        )
      }
      assert.ok(answers[0]?.text.includes('&'), 'the payload is reflected')
    }
  })

  test('L1 is escaped when it is stored as a user name, a token name, a device, an address or an event', async (t) => {
    const { site, ada } = await siteWithAda(t)
    const pages = routes.filter(({ method }) => method === 'GET')
    const keep = async (payload: string) => {
      await sql(site, 'delete from user_tokens')
      // The tokens page shows the name of a new token.
      await ada.form('/account/tokens', { name: 'new', days: '1' })
      await sql(site, 'delete from events where id > (select id from events order by id limit 1)')
      await sql(site, 'update users set name = ?, email = ?', [payload, payload])
      await sql(site, 'update user_tokens set name = ?', [payload])
      await sql(site, 'update sessions set user_agent = ?', [payload])
      await sql(site, 'update events set user_agent = ?, address = ?, event = ?', [payload, payload, payload])
      const answers: Answer[] = []
      for (const { path } of pages) answers.push(await ada.page(path))
      return answers
    }
    const plain = (await keep('plain')).map(tagsOf)
    for (const payload of packed)
      for (const [i, answer] of (await keep(payload)).entries())
        assert.deepEqual(tagsOf(answer), plain[i], `${answer.request} ${payload}`)
  })

  test('I1 with line breaks splits no header and causes no 5xx', async (t) => {
    const { site, person } = await siteWithAda(t)
    const breaks = [
      '\r\n',
      '\n',
      '\r',
      '%0d%0a',
      '%0a',
      '%0d',
      '%E5%98%8A%E5%98%8D',
      '\u2028',
      '\0',
      '%00',
      '\u010d\u010a',
    ]
    for (const each of breaks) {
      const next = `/account${each}Set-Cookie: planted=1${each}${each}<script>`
      const text = encodeURIComponent(next)
      const answers = [
        await site.visitor().form('/login', { username: person.email, password, next }),
        await site.visitor().page(`/login?next=${text}`),
        await site.visitor().page(`/account?x=${text}`),
        await site.visitor().page(`/${text}`),
        await site.visitor().post(`/login?as=${text}`, basic(person)),
      ]
      for (const { status, headers, cookies, request } of answers) {
        assert.ok(status < 500, request)
        assert.ok(!cookies.some((cookie) => cookie.startsWith('planted')), request)
        assert.doesNotMatch(headers.location ?? '', /[\r\n\0\u0080-\uffff]/, request)
      }
      const port = Number(new URL(site.url).port)
      const raw = await rawRequest(
        port,
        [],
        `GET /account?x=${each.replaceAll(/[^\x20-\x7e]/g, '')}x HTTP/1.1`,
      )
      assert.equal(raw.status, 303)
    }
  })
})
