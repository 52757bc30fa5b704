import { isUtf8 } from 'node:buffer'
import { createInterface } from 'node:readline'
import { type Readable, Writable } from 'node:stream'
import { CommandError } from '../command-error.ts'

/** Prompts twice on a terminal, without echo. Reads the first line of any other input. */
export async function readPassword(
  input: Readable & { isTTY?: boolean },
  prompts: Writable,
): Promise<string> {
  return input.isTTY ? askTwice(input, prompts) : readFirstLine(input)
}

async function askTwice(input: Readable, prompts: Writable): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input, output: nowhere, terminal: true, historySize: 0 })
  const lines = terminal[Symbol.asyncIterator]()
  const ask = async (question: string) => {
    prompts.write(question)
    const line = await lines.next()
    prompts.write('\n')
    if (line.done) throw new CommandError('No password was given.')
    return line.value
  }
  try {
    const password = await ask('New password: ')
    if (password !== (await ask('Repeat the password: ')))
      throw new CommandError('The passwords did not match.')
    return password
  } finally {
    terminal.close()
  }
}

async function readFirstLine(input: Readable): Promise<string> {
  let bytes = Buffer.alloc(0)
  for await (const chunk of input) {
    bytes = Buffer.concat([bytes, chunk])
    if (bytes.includes('\n')) break
  }
  if (!isUtf8(bytes)) throw new CommandError('Standard input is not UTF-8.')
  // `TextDecoder` removes a byte order mark.
  const [line = ''] = new TextDecoder().decode(bytes).split(/\r?\n/, 1)
  if (line === '') throw new CommandError('Standard input contains no password.')
  return line
}
