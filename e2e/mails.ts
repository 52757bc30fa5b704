import { readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from '@playwright/test'
import { parseMail, type ReceivedMail } from '../src/testing/received-mail.ts'
import type { Server } from './server.ts'

/** Waits for a mail to an address, and takes it from the folder of the server. */
export async function takeMail({ database }: Server, address: string): Promise<ReceivedMail> {
  let found: ReceivedMail | undefined
  await expect(async () => {
    found = await findMail(join(dirname(database), 'mail'), address)
    expect(found, `a mail to ${address}`).toBeDefined()
  }).toPass()
  if (!found) throw new Error(`There is no mail to ${address}.`)
  return found
}

/** Waits for a mail to an address, and returns the link in the mail. */
export async function takeLink(server: Server, address: string): Promise<string> {
  const { text } = await takeMail(server, address)
  const [link] = /^http\S+\?token=\S+$/m.exec(text) ?? []
  if (!link) throw new Error('The mail has no link.')
  return link
}

async function findMail(folder: string, address: string): Promise<ReceivedMail | undefined> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.eml')).sort()
  for (const name of names) {
    const mail = parseMail(await readFile(join(folder, name), 'utf8'))
    if (mail.headers.to !== address) continue
    await rm(join(folder, name))
    return mail
  }
  return undefined
}
