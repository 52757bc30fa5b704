import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Mailbox } from '../config/mail.ts'
import { compose, type Deliver } from './message.ts'

/** Writes each mail to an `.eml` file with mode 0600. For development and tests. Only development puts the links into the log. */
export function mailFolder(
  folder: string,
  from: Mailbox,
  { logsLinks }: { readonly logsLinks: boolean },
): Deliver {
  return async (message) => {
    const { createTransport } = await import('nodemailer')
    const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' })
    // Unlike base64, people can read it in the file.
    const readable = { ...compose(message, from), textEncoding: 'quoted-printable' as const }
    const { message: bytes } = await transport.sendMail(readable)
    const file = join(folder, `${message.id}-${message.kind}.eml`)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // With `buffer`, the message is a buffer. The rename is atomic, so no reader sees half a file.
    await writeFile(`${file}.part`, bytes as Buffer, { mode: 0o600 })
    await rename(`${file}.part`, file)
    return logsLinks && message.link ? { file, link: message.link } : { file }
  }
}
