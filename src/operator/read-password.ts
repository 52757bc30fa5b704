import { createInterface } from 'node:readline'
import { type Readable, Writable } from 'node:stream'
import { Failure } from './command.ts'

const MAXIMUM_INPUT = 16_384

/** Asks twice on the terminal without showing what is typed, or takes the first line of any other input. */
export async function readPassword(input: Readable & { isTTY?: boolean }, prompts: Writable): Promise<string> {
  if (!input.isTTY) return readFirstLine(input)

  const password = await askHidden('New password: ', input, prompts)
  const again = await askHidden('The same again: ', input, prompts)
  if (again !== password) throw new Failure('The passwords did not match.')
  return password
}

function askHidden(question: string, input: Readable, prompts: Writable): Promise<string> {
  prompts.write(question)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input, output: nowhere, terminal: true, historySize: 0 })
  return new Promise((resolve, reject) => {
    terminal.once('line', resolve)
    // Ctrl-C and Ctrl-D end the line editor; after a line this comes too late to matter.
    terminal.once('close', () => reject(new Failure('No password was given.')))
  }).finally(() => {
    terminal.close()
    prompts.write('\n')
  })
}

async function readFirstLine(input: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of input) {
    chunks.push(Buffer.from(chunk))
  }
}
