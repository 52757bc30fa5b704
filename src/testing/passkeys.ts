import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { creationOptions, insertPasskey, verifyRegistration } from '../account/passkeys/add-passkey.ts'
import { requestOptions, verifyUse } from '../account/passkeys/use-passkey.ts'
import { newIdentifier } from '../database/identifier.ts'
import { lockAccount, User } from '../users/user.ts'
import { type Person, signUp } from './people.ts'
import { startSite } from './site.ts'
import { type Overrides, SoftwareAuthenticator } from './software-authenticator.ts'

const origin = 'http://localhost:3000'

/** A site with a user, and functions for the ceremonies of software authenticators. */
export async function siteWithPasskeys(t: TestContext) {
  const site = await startSite(t)
  const em = () => site.orm.em.fork()
  const party = { id: 'localhost', origin, name: 'Canaries', key: randomBytes(32) }
  const ada = await signUp(site)
  const session = newIdentifier()
  const browser = newIdentifier()
  const userOf = ({ id }: Pick<Person, 'id'>) => em().findOneOrFail(User, { id })
  const authenticator = () => new SoftwareAuthenticator(origin)

  /** Adds a passkey. */
  const add = async (from = authenticator(), overrides: Overrides = {}, person: Pick<Person, 'id'> = ada) => {
    const owner = { user: await userOf(person), session }
    const options = await creationOptions(em(), party, owner)
    const credential = from.create(options, overrides)
    const verified = await verifyRegistration(em(), party, owner, credential)
    return em().transactional(async (em) => {
      await lockAccount(em, person)
      return insertPasskey(em, person.id, { ...verified, name: 'Laptop' })
    })
  }
  /** Returns an authenticator with a passkey of a user. */
  const withPasskey = async (person: Pick<Person, 'id'> = ada, overrides: Overrides = {}) => {
    const from = authenticator()
    await add(from, overrides, person)
    return from
  }
  const signInOptions = () => requestOptions(party, { purpose: 'sign-in', binding: browser })
  const answer = (credential: string) =>
    verifyUse(em(), party, { ceremony: { purpose: 'sign-in', binding: browser }, credential })
  const signIn = (from: SoftwareAuthenticator, overrides: Overrides = {}) =>
    answer(from.get(signInOptions(), overrides))
  const confirm = async (from: SoftwareAuthenticator, overrides: Overrides = {}, person = ada) => {
    const ceremony = { purpose: 'confirm', binding: session } as const
    const options = requestOptions(party, ceremony)
    const user = await userOf(person)
    return verifyUse(em(), party, { ceremony, credential: from.get(options, overrides), user })
  }
  const ceremonies = { add, withPasskey, signInOptions, answer, signIn, confirm }
  return { site, em, party, ada, session, browser, userOf, authenticator, ...ceremonies }
}
