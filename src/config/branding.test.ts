import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { brandColor, contact, contrast, label } from './branding.ts'
import { root } from './root.ts'

const style = readFileSync(join(root, 'public/style.css'), 'utf8')

/** The values of a custom property for light and for dark pages. */
function property(name: string): { light: string; dark: string } {
  const declarations = style.match(new RegExp(`--${name}:.*`, 'g'))?.join() ?? ''
  const [light = '', dark = ''] = declarations.match(/#[\da-f]{6}/g) ?? []
  assert.match(light + dark, /^(#[\da-f]{6}){2}$/, name)
  return { light, dark }
}

/** Computes `color-mix(in srgb, color percent, surface)`. */
function mix(color: string, percent: number, surface: string): string {
  const [one, other] = [color, surface].map((each) => Buffer.from(each.slice(1), 'hex'))
  const channels = [0, 1, 2].map(
    (i) => ((one?.[i] ?? 0) * percent + (other?.[i] ?? 0) * (100 - percent)) / 100,
  )
  return `#${Buffer.from(channels.map(Math.round)).toString('hex')}`
}

describe('label', () => {
  it('accepts text in any script, up to the limit', () => {
    for (const text of ['Acme', 'Ada’s “Notes”', 'Łucja 🌻', '質問', 'x'.repeat(50), '🌻'.repeat(50)])
      assert.equal(label(50).parse(text), text)
  })

  it('rejects longer text, control characters, line separators and bidirectional overrides', () => {
    for (const text of ['x'.repeat(51), 'a\nb', 'a\u0000', '\u001b[2J', 'a\u2028b', '\u202eevil', '\u0085'])
      assert.equal(label(50).parse(text), undefined, JSON.stringify(text))
  })
})

describe('contact', () => {
  it('accepts an https page and a mailbox', () => {
    for (const text of ['https://example.com/help?a=1', 'mailto:help@example.com?subject=Help'])
      assert.equal(contact.parse(text), text)
  })

  it('rejects other schemes, relative URLs, credentials, and a mailbox without a domain', () => {
    for (const text of [
      'http://example.com',
      'javascript:alert(1)',
      'data:text/html,x',
      'help@example.com',
      'mailto:',
      'mailto:help',
      'https://me:secret@example.com',
      '//example.com',
      '/help',
    ])
      assert.equal(contact.parse(text), undefined, text)
  })
})

describe('brandColor', () => {
  it('uses a dark colour unchanged on light pages, and a lighter variant on dark pages', () => {
    const color = brandColor.parse('#0055FF')

    assert.equal(color?.light, '#0055ff')
    assert.ok(contrast(color?.dark ?? '', '#ffffff') < contrast('#0055ff', '#ffffff'))
  })

  it('makes every colour readable, as a link on each surface and as the background of a button', () => {
    const channel = fc.integer({ min: 0, max: 255 })
    fc.assert(
      fc.property(channel, channel, channel, (...channels) => {
        const color = brandColor.parse(`#${Buffer.from(channels).toString('hex')}`)
        assert.ok(color)
        for (const [theme, buttonText] of [
          ['light', '#ffffff'],
          ['dark', '#000000'],
        ] as const) {
          const [accent, surface, ink] = [color[theme], property('surface')[theme], property('ink')[theme]]
          const callout = mix(accent, 9, surface)
          const hover = mix(ink, 6, surface)
          for (const each of [property('paper')[theme], surface, callout, hover, buttonText])
            assert.ok(contrast(accent, each) >= 4.5, `${accent} on ${each}`)
        }
      }),
      { numRuns: 200 },
    )
  })

  it('rejects other notations', () => {
    for (const text of ['green', '#fff', '#00000g', '0055ff', '#0055ff80', 'rgb(0, 0, 0)', '#0055ff;}'])
      assert.equal(brandColor.parse(text), undefined, text)
  })

  it('measures contrast as WCAG does', () => {
    assert.equal(contrast('#000000', '#ffffff'), 21)
    assert.equal(contrast('#777777', '#ffffff').toFixed(2), '4.48')
  })
})
