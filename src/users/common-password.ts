import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
let common: Set<string> | undefined

/** Whether a password is among those that everybody who guesses tries first, in whatever case it is written. */
export function isCommonPassword(password: string): boolean {
  common ??= load()
  return common.has(password.normalize('NFC').toLowerCase())
}

// 18,000 of the 49,000 that leaked lists have in common; the others are too short for us anyway. To unpack them takes some
// 40 ms and 15 MB, so it is done when the first password is chosen: most processes never see one.
function load(): Set<string> {
  const { dictionary }: typeof import('@zxcvbn-ts/language-common') = require('@zxcvbn-ts/language-common')
  return new Set(dictionary['passwords-common'].filter((password) => password.length >= 8))
}
