import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { problemOf } from './command-error.ts'

/** The error of a real attempt to listen. */
async function listenError(t: TestContext, host: string, port = 0): Promise<unknown> {
  const server = createServer()
  t.after(() => server.close())
  const error = once(server, 'error')
  server.listen({ host, port })
  return (await error)[0]
}

describe('problemOf', () => {
  test('names HOST for an address that this machine does not have', async (t) => {
    // RFC 5737: an address for documentation.
    const problem = problemOf(await listenError(t, '192.0.2.1'))

    assert.match(
      String(problem),
      /^listen EADDRNOTAVAIL.* 192\.0\.2\.1\. Set HOST to an address of this machine\.$/,
    )
  })

  test('names HOST for a name that does not resolve', async (t) => {
    const problem = problemOf(await listenError(t, 'no.such.host.invalid'))

    assert.match(String(problem), /^getaddrinfo [A-Z_]+ no\.such\.host\.invalid\. Set HOST to an address /)
  })

  test('names HOST for an error of `bind`, as with several workers', () => {
    for (const code of ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL']) {
      const error = Object.assign(new Error(`bind ${code} ::1:3000`), { code, syscall: 'bind' })
      assert.equal(problemOf(error), `bind ${code} ::1:3000. Set HOST to an address of this machine.`)
    }
  })

  test('names PORT for a port that is in use or not permitted', async (t) => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    t.after(() => other.close())
    const { port } = other.address() as { port: number }
    const denied = Object.assign(new Error('listen EACCES: permission denied 0.0.0.0:80'), {
      code: 'EACCES',
      syscall: 'listen',
    })

    assert.match(
      String(problemOf(await listenError(t, '127.0.0.1', port))),
      new RegExp(
        `EADDRINUSE.*${port}\\. Set another PORT or METRICS_PORT, or stop the program that listens there\\.$`,
      ),
    )
    assert.equal(problemOf(denied), 'listen EACCES: permission denied 0.0.0.0:80. Set PORT to 1024 or more.')
  })

  test('returns an error of this program unchanged', () => {
    for (const error of [new TypeError('x'), Object.assign(new Error('x'), { code: 'ENOTFOUND' }), 'a text'])
      assert.equal(problemOf(error), error)
  })
})
