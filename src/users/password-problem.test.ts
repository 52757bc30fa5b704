import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { dictionary } from '@zxcvbn-ts/language-common'
import { passwordProblem } from './password-problem.ts'

const siteName = 'koa-authenticators'
const ada = { name: 'Ada Lovelace', email: 'ada.lovelace@example.com' }

function accepts(password: string, owner = ada): void {
  assert.equal(passwordProblem(password, owner, siteName), undefined, password)
}

function refuses(why: RegExp, ...passwords: string[]): void {
  for (const password of passwords)
    assert.match(passwordProblem(password, ada, siteName) ?? 'accepted', why, password)
}

describe('passwordProblem', () => {
  test('S35 requires at least 8 code points', () => {
    refuses(/^Enter a password\.$/, '')
    refuses(/at least 8 characters/, 'x', 'seven77', '🙂'.repeat(7), 'é'.normalize('NFD').repeat(7))
    accepts('eight ok')
    accepts('🙂🙃🙂🙃🙂🙃🙂🙃')
  })

  test('accepts up to 1,024 bytes after normalization', () => {
    accepts('x y '.repeat(256))
    accepts('é'.repeat(512))
    accepts('é'.repeat(512).normalize('NFD'))
    refuses(/at most 1024 bytes/, 'x'.repeat(1025), '🙂'.repeat(257), 'x'.repeat(1_000_000))
  })

  test('rejects lone surrogates', () => {
    refuses(/broken character/, 'lone \ud800 surrogate', 'the other \udc00 half')
  })

  test('B5 has no composition rules', () => {
    const odd = [
      'aaaaaaaaaaaaaaaaaaaaaaaa',
      '                 ',
      'ONLY CAPITALS HERE',
      '8675309867530986',
      '\t\n\t\n\t\n\t\n',
    ]
    const foreign = [
      'пароль для входа',
      '正確な馬の電池ホチキス',
      'كلمة مرور طويلة',
      'nul\0nul\0nul',
      "'; drop table users; --",
    ]
    for (const password of [...odd, ...foreign]) accepts(password)
  })

  test('B7 rejects every listed password of at least 8 characters, in any letter case', () => {
    const list = dictionary['passwords-common'].filter((password) => password.length >= 8)
    assert.ok(list.length >= 3000)
    refuses(/one of the most common ones/, ...list, ...list.map((password) => password.toUpperCase()))
  })

  test('rejects a password made of parts of the e-mail address, even with digits', () => {
    const made = [
      'ada.lovelace@example.com',
      'ADA.LOVELACE',
      'ada-lovelace',
      'adalovelace2024!',
      '1lovelace1',
      'example.com',
    ]
    refuses(/made of your name, your e-mail address or/, ...made)
  })

  test('rejects a password made of the name of the user or of the site, even with digits', () => {
    const grace = { name: 'Grace Brewster Hopper', email: 'admiral@navy.example' }

    assert.match(passwordProblem('GraceHopper1906', grace, siteName) ?? '', /made of your name/)
    assert.match(passwordProblem('ａｄａｌｏｖｅｌａｃｅ', ada, siteName) ?? '', /made of/)
    refuses(/made of .* the name of this site/, 'koa-authenticators', 'KoaAuthenticators1', 'koakoakoa')
    assert.match(passwordProblem('hopper@koa.navy', grace, siteName) ?? '', /made of/)
  })

  test('accepts a password that contains a name or numbers', () => {
    accepts('lovelace likes lace')
    accepts('password and then some')
    accepts('constructor of houses')
    accepts('__proto__')
    accepts('my koa is green')
    accepts('4242424242424242', { name: 'Agent 42', email: '42@example.com' })
    accepts('jjjjjjjjjjjj', { name: 'J', email: 'j@example.com' })
    accepts('9876543298765432', { name: '', email: '' })
  })

  test('B7 accepts random passwords', () => {
    for (let count = 0; count < 1000; count += 1) accepts(randomBytes(12).toString('base64url'))
  })
})
