import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Mailbox } from '../config/mail.ts'
import { compose, type Deliver } from './message.ts'

/** Writes each mail to an `.eml` file with mode 0600. For development and tests. */
export function mailFolder(folder: string, from: Mailbox): Deliver {
  return async (message) => {
    const { createTransport } = await import('nodemailer')
    const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' })
    const { message: bytes } = await transport.sendMail(compose(message, from))
    const file = join(folder, `${message.id}-${message.kind}.eml`)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // With `buffer`, the message is a buffer. The rename is atomic, so no reader sees half a file.
    await writeFile(`${file}.part`, bytes as Buffer, { mode: 0o600 })
    await rename(`${file}.part`, file)
    return { file }
  }
}
