import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mails } from '../mails.ts'
import { MailTemplates } from './mail-templates.ts'
import type { Mails } from './message.ts'

const hostile = `"'><script>alert(1)</script><a href="https://evil.example">x\r\n.\r\nBcc: x\u202e\u0000</a>`
const origin = 'https://site.example'
const url = `${origin}/reset?token=${'x'.repeat(43)}`
const support = 'mailto:help@site.example'
const brandColor = { given: '#ff0000', light: '#dd0000', dark: '#ff6666' }
const plain = { siteName: 'Ada’s <site>', supportUrl: undefined, brandColor: undefined }
const templates = new MailTemplates(plain)
const branded = new MailTemplates({ ...plain, supportUrl: support, brandColor })

function notice(text = 'Ada') {
  const words = { subject: 'Your password was changed', text: 'The password of your account was changed.' }
  return { ...words, name: text, at: '2026-11-25T18:18:00.000Z', device: text, network: text }
}

const forOperator = { ...notice(), needsOperator: true } as const

/** The data of all kinds of mail. */
const samples: { [Kind in keyof Mails]: Mails[Kind][] } = {
  invite: [undefined],
  reset: [undefined],
  verify: [undefined],
  'change-email': [undefined],
  'address-taken': [undefined],
  notice: [notice(), notice(hostile), forOperator, { ...forOperator, mustAct: true }],
}

function renderAll() {
  return (Object.keys(samples) as (keyof Mails)[]).flatMap((kind) =>
    samples[kind].flatMap((data) => [
      { kind, ...render(kind, data) },
      { kind, ...render(kind, data, branded) },
    ]),
  )
}

function render<Kind extends keyof Mails>(kind: Kind, data?: Mails[Kind], from = templates) {
  const link = hasLink(kind) ? { url, lifetime: 3_600_000 } : undefined
  const { subject } = mails[kind]
  const text = typeof subject === 'string' ? subject : notice().subject
  return from.render(kind, data ?? {}, { subject: text, origin, to: 'ada@example.com', link })
}

function hasLink(kind: keyof Mails): boolean {
  return mails[kind].createLink !== undefined
}

describe('MailTemplates', () => {
  test('L8 every mail is safe: no script, no image, no link to another site, no unescaped value', () => {
    for (const { kind, html } of renderAll()) {
      assert.match(html, /^<!doctype html>\n<html lang="en">/, kind)
      assert.doesNotMatch(
        html,
        /<(script|img|form|iframe|link|base)|\son\w+=|javascript:|url\(|@import/i,
        kind,
      )
      assert.doesNotMatch(html, /undefined|\[object|Invalid Date/, kind)
      assert.equal(html.match(/<h1[ >]/g)?.length, 1)
      const urls = [...html.matchAll(/\s(?:href|src)="([^"]*)"/g)].map(([, each]) => each)
      for (const each of urls)
        assert.ok([url, support, `${origin}/login`, `${origin}/forgot`].includes(each ?? ''), each)
    }
  })

  test('the text says the same as the HTML', () => {
    for (const { kind, html, text } of renderAll()) {
      const shown = html.slice(html.indexOf('<body')).replace(/<div style="display:none[\s\S]*?<\/div>/, '')
      const body = shown.replace(/<[^>]+>/g, ' ')
      assert.deepEqual(wordsOf(unescapeHtml(body)), wordsOf(text), kind)
    }
  })

  test('a text has no superfluous space and no HTML entity, and a link with a token stands alone on a line', () => {
    for (const { kind, text } of renderAll()) {
      assert.match(text, /^\S[\s\S]*[^\n]\n$/, kind)
      assert.doesNotMatch(text, /\n{3}|[ \t]\n|[\r\0\u202e]|&\w+;|&#/, kind)
      if (hasLink(kind)) assert.equal(text.split('\n').filter((line) => line === url).length, 1, kind)
    }
  })

  test('a subject is one line with the name of the site', () => {
    for (const { subject } of renderAll()) assert.match(subject, /^[A-Z][\w' -]+ at Ada’s <site>$/)
  })

  test('a list of mails shows the lifetime of a link, or the device and the time, beside the subject', () => {
    const preheaderOf = ({ html }: { html: string }) =>
      html.match(/<div style="display:none[^>]*>(.*)<\/div>/)?.[1]
    assert.equal(preheaderOf(render('reset')), 'The link works for one hour.')
    const data = { ...notice(), device: 'Firefox on <Linux>' }
    assert.equal(
      preheaderOf(render('notice', data)),
      'Firefox on &lt;Linux&gt;, 25 November 2026 at 18:18 UTC',
    )
    for (const mail of renderAll()) assert.ok(preheaderOf(mail), mail.kind)
  })

  test('a notice has the time, the device, the network and advice, without a link that signs in', () => {
    const { text } = render('notice', { ...notice(), device: 'Firefox on Linux', network: '203.0.113.7' })
    assert.match(text, /^Time: 25 November 2026 at 18:18 UTC$/m)
    assert.match(text, /^Device: Firefox on Linux$/m)
    assert.match(text, /^Network: 203\.0\.113\.7$/m)
    assert.match(text, /^If it was not you, /m)
    assert.doesNotMatch(text, /token=|\?/)
  })

  test('a notice says “If it was you, there is nothing to do”, unless the owner must act', () => {
    for (const mustAct of [undefined, true] as const) {
      const { text, html } = render('notice', { ...forOperator, ...(mustAct && { mustAct }) })
      for (const body of [text, html])
        assert.equal(body.includes('there is nothing to do'), mustAct === undefined)
    }
  })

  test('use the colours and the contact of the configuration', () => {
    const { html, text } = render('notice', forOperator, branded)
    assert.match(html, /color:#dd0000"/)
    assert.match(html, /background: #ff6666 !important;/)
    assert.match(text, /^If it was not you, contact us at once: help@site\.example$/m)
    const without = render('notice', forOperator)
    assert.match(render('reset').html, /background:#0b6a4e;/)
    assert.match(without.text, /^If it was not you, contact us at once\.$/m)
  })

  test('name the lifetime of a link in words', () => {
    const lifetime = (hours: number) =>
      templates.render(
        'verify',
        {},
        { subject: 'x', origin, to: 'x', link: { url, lifetime: hours * 3_600_000 } },
      ).text
    assert.match(lifetime(1), /for one hour\./)
    assert.match(lifetime(24), /for 24 hours\./)
    assert.match(lifetime(72), /for 3 days\./)
  })
})

function wordsOf(text: string): string[] {
  // Only the text has a colon after a label.
  return text.split(/[\s:]+/).filter(Boolean)
}

function unescapeHtml(html: string): string {
  const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  return html.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => characters[name] ?? '')
}
