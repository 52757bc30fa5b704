import { dictionary } from '@zxcvbn-ts/language-common'

// 18,000 of the 49,000 that leaked lists have in common; the others are too short for us anyway. Unpacked once, at the
// start of the process (some 40 ms), so that no request waits for it.
const common = new Set(dictionary['passwords-common'].filter((password) => password.length >= 8))

/** Whether a password is among those that everybody who guesses tries first, in whatever case it is written. */
export function isCommonPassword(password: string): boolean {
  return common.has(password.normalize('NFC').toLowerCase())
}
