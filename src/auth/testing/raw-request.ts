import { once } from 'node:events'
import { connect } from 'node:net'

/** Sends header lines unchanged, including duplicates. Returns the status and the text of the response. */
export async function rawRequest(
  port: number,
  lines: readonly string[],
  requestLine = 'GET / HTTP/1.1',
): Promise<{ status: number; text: string }> {
  const socket = connect(port, '127.0.0.1')
  // Does not call `end`, because Node's server does not respond on a half-closed connection.
  socket.write(
    `${[requestLine, 'Host: localhost', ...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`,
    'latin1',
  )
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  await once(socket, 'close')
  const text = Buffer.concat(chunks).toString()
  return { status: Number(text.split(' ', 2)[1]), text }
}
