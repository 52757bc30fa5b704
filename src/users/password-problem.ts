import { createRequire } from 'node:module'
import { MAXIMUM_PASSWORD_BYTES, passwordBytes } from './password.ts'

const MINIMUM_CODE_POINTS = 8

/** The public data of a user. A password must not consist only of this data. */
export interface PasswordOwner {
  readonly name: string
  readonly email: string
}

/** The problem of a new password, as a sentence for the user. `undefined` if it is valid. */
export function passwordProblem(
  password: string,
  owner: PasswordOwner,
  siteName: string,
): string | undefined {
  if (password === '') return 'Enter a password.'
  if (!password.isWellFormed()) return 'The password contains a broken character. Type it again.'

  const bytes = passwordBytes(password)
  if (bytes === undefined) return `The password must be at most ${MAXIMUM_PASSWORD_BYTES} bytes long.`
  if ([...bytes.toString()].length < MINIMUM_CODE_POINTS) {
    return `The password must have at least ${MINIMUM_CODE_POINTS} characters.`
  }
  if (isCommonPassword(password)) return easilyGuessed('one of the most common ones')
  return isObvious(password, owner, siteName)
    ? easilyGuessed('made of your name, your e-mail address or the name of this site')
    : undefined
}

/** The problem of the repeated password, as a sentence for the user. `undefined` if it is the same. */
export function confirmationProblem(password: string, repeated: string): string | undefined {
  if (repeated === password) return undefined
  return repeated === '' ? 'Repeat the password.' : 'The passwords did not match.'
}

function easilyGuessed(reason: string): string {
  return `The password is ${reason}. Choose one that is harder to guess.`
}

function isObvious(password: string, { name, email }: PasswordOwner, siteName: string): boolean {
  const [mailbox = ''] = email.split('@')
  const sources = [partsOf(email, mailbox), partsOf(name), partsOf(siteName)]
  return [...sources, sources.flat()].some((parts) => isMadeOf(password, parts))
}

/** Whether a password contains some of these parts, and no other letters. */
function isMadeOf(password: string, parts: readonly string[]): boolean {
  const text = wordsOf(password).join('')
  const longestFirst = parts.toSorted((one, other) => other.length - one.length)
  const rest = longestFirst.reduce((left, part) => left.replaceAll(part, ' '), text)
  return rest !== text && !/[^\p{N}\s]/u.test(rest)
}

/** Each text without punctuation, and its words. Numbers and single letters are left out, because they match too often. */
function partsOf(...texts: string[]): string[] {
  // The slice limits the work. Longer names and addresses are invalid.
  const words = texts.map((text) => wordsOf(text.slice(0, 254)))
  const parts = words.flatMap((each) => [each.join(''), ...each])
  return parts.filter((part) => part.length > 1 && /\P{N}/u.test(part))
}

function wordsOf(text: string): string[] {
  const normalized = text.normalize('NFKC').toLowerCase()
  return normalized.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
}

const require = createRequire(import.meta.url)
let common: Set<string> | undefined

/** Whether a password is on the list of common passwords, in any letter case. */
function isCommonPassword(password: string): boolean {
  common ??= load()
  return common.has(password.normalize('NFC').toLowerCase())
}

// Loaded on first use, because loading takes 40 ms and 15 MB.
function load(): Set<string> {
  const { dictionary }: typeof import('@zxcvbn-ts/language-common') = require('@zxcvbn-ts/language-common')
  // Passwords under 8 characters are rejected without the list.
  return new Set(dictionary['passwords-common'].filter((password) => password.length >= 8))
}
