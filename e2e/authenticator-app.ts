import type { Page } from '@playwright/test'
import Database from 'better-sqlite3'
import decodeQR from 'qr/decode.js'
import { hotp, stepAt } from '../src/account/second-factor/totp.ts'
import { fromBase32 } from '../src/testing/second-factor.ts'
import type { Server } from './server.ts'
import { type Account, expect } from './site.ts'

/** Generates codes for a key in base32, as an app on a phone does. */
export class AuthenticatorApp {
  readonly #key: Buffer
  readonly #database: string

  constructor(secret: string, { server }: Account) {
    this.#key = fromBase32(secret.replaceAll(' ', ''))
    this.#database = server.database
  }

  /** Returns the code of the next step, which is valid for at least a minute. The server forgets the codes that were used before. */
  nextCode(): string {
    change(this.#database, 'update totp_factors set last_step = 0')
    return hotp(this.#key, stepAt(Date.now()) + 1)
  }
}

/** Signs in the browser of a page, and turns on an app for the account. Uses the JSON API, so it opens no page. */
export async function turnOnApp(page: Page, account: Account) {
  await account.signIn(page)
  const started = await page.request.post('/account/security/totp', { data: {} })
  const app = new AuthenticatorApp((await started.json()).secret, account)
  const code = app.nextCode()
  const confirmed = await page.request.post('/account/security/totp/confirm', { data: { code } })
  expect(confirmed.status()).toBe(200)
  const { recoveryCodes } = await confirmed.json()
  return { app, recoveryCodes: recoveryCodes as string[] }
}

/** Reads the QR code in a screenshot of the page. */
export async function scanQrCode(page: Page): Promise<string> {
  const png = (await page.screenshot({ fullPage: true })).toString('base64')
  // An empty page decodes the image, because it has no content security policy.
  const reader = await page.context().newPage()
  const { width, height, pixels } = await reader.evaluate<Pixels>(`(async () => {
    const bytes = Uint8Array.from(atob('${png}'), (each) => each.charCodeAt(0))
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
    context.drawImage(image, 0, 0)
    const { data } = context.getImageData(0, 0, image.width, image.height)
    const pixels = Array.from(data, (byte) => String.fromCharCode(byte)).join('')
    return { width: image.width, height: image.height, pixels: btoa(pixels) }
  })()`)
  await reader.close()
  return decodeQR({ width, height, data: Buffer.from(pixels, 'base64') })
}

interface Pixels {
  readonly width: number
  readonly height: number
  readonly pixels: string
}

/** Sets the time of the last proof of identity to eleven minutes ago, in all sessions. */
export function ageSessions({ database }: Server): void {
  change(
    database,
    `update sessions set data = json_set(data, '$."user:authenticated".at', ${Date.now() - 11 * 60_000})`,
  )
}

/** Uses up recovery codes of an account. */
export function useRecoveryCodes({ database }: Server, { email }: Account, number: number): void {
  const owner = `select id from users where email = '${email}'`
  const used = `select digest from recovery_codes where user_id = (${owner}) limit ${number}`
  change(database, `delete from recovery_codes where digest in (${used})`)
}

/** Deletes all pending sign-ins, as if they had expired. */
export function endPendingSignIns({ database }: Server): void {
  change(database, 'delete from pending_sign_ins')
}

function change(database: string, statement: string): void {
  const connection = new Database(database)
  connection.exec(statement)
  connection.close()
}
