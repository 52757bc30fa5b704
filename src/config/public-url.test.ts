import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Environment } from './environment.ts'
import { readRpId } from './public-url.ts'

function read(publicUrl: string | undefined, rpId?: string): string | undefined {
  const environment = new Environment({ RP_ID: rpId })
  const found = readRpId(environment, publicUrl === undefined ? undefined : new URL(publicUrl))
  environment.throwMistakes()
  return found
}

describe('RP_ID', () => {
  test('is the host of PUBLIC_URL by default, if browsers support passkeys there', () => {
    assert.equal(read('https://www.example.com'), 'www.example.com')
    assert.equal(read('https://www.example.com:8443'), 'www.example.com')
    assert.equal(read('http://localhost:3000'), 'localhost')
    for (const url of [
      undefined,
      'http://example.com',
      'https://192.0.2.1',
      'https://[::1]',
      'http://127.0.0.1:3000',
    ])
      assert.equal(read(url), undefined, url)
  })

  test('can be the host of PUBLIC_URL or a parent domain of it', () => {
    assert.equal(read('https://www.example.com', 'Example.com'), 'example.com')
    assert.equal(read('https://www.example.com', 'www.example.com'), 'www.example.com')
    assert.equal(read('http://localhost:3000', 'localhost'), 'localhost')
  })

  test('is rejected if it is another host, a top-level domain or a URL, or if PUBLIC_URL does not support passkeys', () => {
    for (const [url, id] of [
      [undefined, 'example.com'],
      ['https://example.com', 'www.example.com'],
      ['https://example.com', 'ample.com'],
      ['https://example.com', 'com'],
      ['https://example.com', '.com'],
      ['https://example.com', 'https://example.com'],
      ['http://www.example.com', 'example.com'],
      ['https://192.0.2.1', '2.1'],
    ])
      assert.throws(() => read(url, id), {
        message: /^RP_ID must be the host of PUBLIC_URL or a parent domain of it/,
      })
  })
})
