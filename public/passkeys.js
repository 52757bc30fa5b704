// Passkeys (WebAuthn). The content security policy allows no `fetch`, so the page contains the options and a form sends the answer.
// Older browsers and some password managers have no `toJSON`, so this script creates the JSON.

const loadedAt = Date.now()
// The pending request of the autofill. Browsers allow only one request at a time.
let autofill = new AbortController()

const messages = {
  NotAllowedError: 'No passkey was used. Try again when you are ready.',
  InvalidStateError: 'This device already has a passkey for your account.',
  SecurityError: 'Passkeys do not work at this address.',
}

for (const element of document.querySelectorAll('[data-passkey]')) {
  element.hidden = false
  if (element.dataset.options) addCeremony(element, JSON.parse(element.dataset.options))
}

function addCeremony(form, options) {
  const message = document.createElement('p')
  message.className = 'hint'
  message.setAttribute('role', 'status')
  let isAsking = false
  // A second request during a double click would make the browser reject both.
  const start = async () => {
    if (isAsking) return
    isAsking = true
    await ask(form, options, message)
    isAsking = false
  }
  if (options.user) {
    form.addEventListener('submit', (event) => {
      if (event.defaultPrevented) return
      event.preventDefault()
      start()
    })
  } else {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'button quiet'
    button.textContent = form.dataset.passkey
    button.addEventListener('click', start)
    form.append(button)
  }
  form.append(message)
  if (form.querySelector('[autocomplete~="webauthn"]')) offerAutofill(form, options)
}

async function ask(form, options, message) {
  message.textContent = ''
  if (Date.now() - loadedAt > options.timeout) {
    message.textContent = 'This page has been open for too long. Reload it, and try again.'
    return
  }
  autofill.abort()
  try {
    const publicKey = decoded(options)
    send(form, await navigator.credentials[options.user ? 'create' : 'get']({ publicKey }))
  } catch ({ name }) {
    message.textContent = messages[name] ?? 'The passkey did not work. Try again, or use your password.'
    if (form.querySelector('[autocomplete~="webauthn"]')) offerAutofill(form, options)
  }
}

async function offerAutofill(form, options) {
  // Created before `await`, so that a click during the wait aborts the autofill.
  autofill = new AbortController()
  const { signal } = autofill
  if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return
  try {
    send(
      form,
      await navigator.credentials.get({ publicKey: decoded(options), mediation: 'conditional', signal }),
    )
  } catch {
    // The button still works.
  }
}

function send(form, { id, type, response }) {
  const answer = { transports: response.getTransports?.() }
  for (const name of ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'])
    if (response[name]) answer[name] = encode(response[name])
  form.querySelector('[name="credential"]')?.remove()
  const field = document.createElement('input')
  field.type = 'hidden'
  field.name = 'credential'
  field.value = JSON.stringify({ id, type, response: answer })
  form.append(field)
  // The server needs no password with a passkey.
  if (form.elements.password) form.elements.password.value = ''
  if (form.dataset.action) form.action = form.dataset.action
  form.submit()
}

function decoded(options) {
  const { challenge, user, allowCredentials, excludeCredentials } = options
  const withId = (each) => ({ ...each, id: decode(each.id) })
  return {
    ...options,
    challenge: decode(challenge),
    ...(user && { user: withId(user) }),
    ...(allowCredentials && { allowCredentials: allowCredentials.map(withId) }),
    ...(excludeCredentials && { excludeCredentials: excludeCredentials.map(withId) }),
  }
}

function decode(text) {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}

function encode(buffer) {
  const text = btoa(String.fromCharCode(...new Uint8Array(buffer)))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
