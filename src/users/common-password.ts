import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
let common: Set<string> | undefined

/** Whether a password is on the list of common passwords, in any case. */
export function isCommonPassword(password: string): boolean {
  common ??= load()
  return common.has(password.normalize('NFC').toLowerCase())
}

// Loaded on first use, because it takes 40 ms and 15 MB. Shorter passwords are rejected anyway.
function load(): Set<string> {
  const { dictionary }: typeof import('@zxcvbn-ts/language-common') = require('@zxcvbn-ts/language-common')
  return new Set(dictionary['passwords-common'].filter((password) => password.length >= 8))
}
