const MAXIMUM_LENGTH = 254
const FORMAT = 'Enter an e-mail address like name@example.com.'

// RFC 5321 §4.1.2, without quoted local parts and address literals.
const LOCAL_PART = /^[a-z\d!#$%&'*+/=?^_`{|}~-]+$/i
const LABEL = /^(?!-)[a-z\d-]{1,63}(?<!-)$/i

/** The problem of an e-mail address, as a sentence for the user. `undefined` if it is valid. */
export function emailProblem(email: string): string | undefined {
  if (email === '') return 'Enter an e-mail address.'
  if (email.length > MAXIMUM_LENGTH)
    return `The e-mail address must have ${MAXIMUM_LENGTH} characters or fewer.`

  const [name = '', domain = '', ...more] = email.split('@')
  return more.length === 0 && isMailbox(name) && isDomain(domain) ? undefined : FORMAT
}

function isMailbox(name: string): boolean {
  return name.length <= 64 && name.split('.').every((atom) => LOCAL_PART.test(atom))
}

function isDomain(domain: string): boolean {
  const labels = domain.split('.')
  const top = labels.at(-1) ?? ''
  return labels.length > 1 && labels.every((label) => LABEL.test(label)) && /[a-z]/i.test(top)
}

/** The error of a form with the address of another account. */
export const addressInUse = {
  field: 'email',
  detail: 'There is already an account with this e-mail address.',
}
