import { isCommonPassword } from './common-password.ts'
import { MAXIMUM_PASSWORD_BYTES, passwordBytes } from './password.ts'

const SITE_NAME = 'koa-authenticators'
const MINIMUM_CODE_POINTS = 8

/** Whose password it is to become: what others know of them must not be all that it is made of. */
export interface PasswordOwner {
  readonly name: string
  readonly email: string
}

/** What is wrong with a new password, as a sentence for the person who chose it; `undefined` if nothing is. */
export function passwordProblem(password: string, owner: PasswordOwner): string | undefined {
  if (password === '') return 'Enter a password.'
  if (!password.isWellFormed()) return 'The password contains a broken character. Type it again.'

  const bytes = passwordBytes(password)
  if (bytes === undefined) return `The password must be at most ${MAXIMUM_PASSWORD_BYTES} bytes long.`
  if ([...bytes.toString()].length < MINIMUM_CODE_POINTS) {
    return `The password must have at least ${MINIMUM_CODE_POINTS} characters.`
  }
  if (isCommonPassword(password)) return easilyGuessed('one of the most common ones')

  const source = obviousSource(password, owner)
  return source && easilyGuessed(`made of ${source}`)
}

function easilyGuessed(why: string): string {
  return `The password is ${why}. Choose one that is harder to guess.`
}

/** Out of which of the things that others know a password is made, if it is made of nothing else. */
function obviousSource(password: string, { name, email }: PasswordOwner): string | undefined {
  const [mailbox = ''] = email.split('@')
  const fromEmail = partsOf(email, mailbox)
  const fromName = partsOf(name)
  const fromSite = partsOf(SITE_NAME)

  if (isMadeOf(password, fromEmail)) return 'your e-mail address'
  if (isMadeOf(password, fromName)) return 'your name'
  if (isMadeOf(password, fromSite)) return 'the name of this site'
  const mixed = isMadeOf(password, [...fromEmail, ...fromName, ...fromSite])
  return mixed ? 'your name, your e-mail address and the name of this site' : undefined
}

/** Whether only digits and punctuation remain of a password when these parts are taken out of it, the longest first. */
function isMadeOf(password: string, parts: string[]): boolean {
  const text = wordsOf(password).join('')
  const longestFirst = parts.toSorted((one, other) => other.length - one.length)
  const rest = longestFirst.reduce((left, part) => left.replaceAll(part, ' '), text)
  return rest !== text && !/[^\p{N}\s]/u.test(rest)
}

/** Each text without its punctuation, and each of its words; not single letters and numbers, which are everywhere. */
function partsOf(...texts: string[]): string[] {
  // No name and no address is longer than this: what is has been refused, and shall cost no time here.
  const words = texts.map((text) => wordsOf(text.slice(0, 254)))
  const parts = words.flatMap((each) => [each.join(''), ...each])
  return parts.filter((part) => part.length > 1 && /\P{N}/u.test(part))
}

function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  )
}
