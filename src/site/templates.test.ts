import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { root } from '../config/root.ts'

// src/mail/mail-templates.test.ts checks the templates of mails.
const pages = globSync('views/**/*.eta', { cwd: root }).filter((name) => !/^views.mail/.test(name))
const templates = pages.map((name) => ({
  name,
  text: readFileSync(join(root, name), 'utf8'),
}))

describe('the templates', () => {
  test('L8 escape every value, and put no value into a script, style or handler, and only known values into URLs', () => {
    assert.ok(templates.length > 10)
    for (const { name, text } of templates) {
      for (const [, raw = ''] of text.matchAll(/<%[-_]?\s*~\s*([^%]*)/g))
        assert.match(raw, /^(include\('@[\w/-]+'|it\.body )/, name)
      assert.doesNotMatch(
        text,
        /<script(?! type="module" src="<%= file\('app\.js'\) %>"><\/script>)|<style|\sstyle=|\son[a-z]+=|javascript:/i,
        name,
      )
      for (const [, quote = ''] of text.matchAll(/=\s*([^"\s>]?)<%=/g))
        assert.notEqual(quote, '', `${name}: an attribute without quotes`)
      for (const [, address = ''] of text.matchAll(/\s(?:href|src|action|formaction)="([^"]*<%[^"]*)"/g))
        assert.match(
          address,
          /^(<%= file\('[\w.-]+'\) %>|\/[\w/-]+<%= id %>[\w/-]*|#<%= field %>|<%= path %>|<%= it\.(?:older|support|action|back|type|uri|url) %>(?:\/<%= id %>)?|\/(?:login|signup|confirm)(?:\/[\w-]+)?<%= nextQuery %>)$/,
          name,
        )
    }
  })
})
