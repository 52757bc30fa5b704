// Passkeys (WebAuthn). The content security policy allows no `fetch`, so the page contains the passkey options, and a form sends the
// result.

const loadedAt = Date.now()
// Aborts the passkey request of the autofill, because browsers allow only one passkey request at a time.
let autofill = new AbortController()
// Whether a click has started a passkey request, or the form was sent. The server accepts the passkey options of a page only once.
let isBusy = false
// A page in the back/forward cache keeps the variable.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) isBusy = false
})

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
  const fail = (error) => {
    isBusy = false
    message.textContent =
      messages[error?.name] ?? 'The passkey did not work. Try again, or use your password.'
  }
  const start = async () => {
    if (isBusy) return
    if (Date.now() - loadedAt > options.timeout) {
      message.textContent = 'This page has been open for too long. Reload it, and try again.'
      return
    }
    isBusy = true
    message.textContent = ''
    autofill.abort()
    try {
      send(form, await askForPasskey(options))
    } catch (error) {
      fail(error)
      offerAutofill(form, options, fail)
    }
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
    const or = document.createElement('p')
    or.className = 'or'
    or.textContent = 'or'
    form.append(or, button)
  }
  form.append(message)
  offerAutofill(form, options, fail)
}

async function offerAutofill(form, options, fail) {
  if (!form.querySelector('[autocomplete~="webauthn"]')) return
  // Created before `await`, so that a click during the wait aborts the autofill.
  autofill.abort()
  autofill = new AbortController()
  const { signal } = autofill
  try {
    if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return
    const credential = await askForPasskey(options, { mediation: 'conditional', signal })
    if (!isBusy) send(form, credential)
  } catch (error) {
    // A click on the button has aborted the autofill, or the user has closed it.
    if (!isBusy && !['AbortError', 'NotAllowedError'].includes(error?.name)) fail(error)
  }
}

function askForPasskey(options, more) {
  if (options.user)
    return navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
    })
  return navigator.credentials.get({
    publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
    ...more,
  })
}

function send(form, credential) {
  const value = JSON.stringify(toJSON(credential))
  isBusy = true
  // The page stays if the user stops the request.
  setTimeout(() => {
    isBusy = false
  }, 10_000)
  form.querySelector('[name="credential"]')?.remove()
  const field = document.createElement('input')
  field.type = 'hidden'
  field.name = 'credential'
  field.value = value
  form.append(field)
  // The server needs no password with a passkey.
  if (form.elements.password) form.elements.password.value = ''
  if (form.dataset.action) form.action = form.dataset.action
  form.submit()
}

/** The credential of a password manager may have no `toJSON`, or one that throws. */
function toJSON(credential) {
  try {
    return credential.toJSON()
  } catch {
    const { id, response } = credential
    const buffers = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle']
    const given = buffers.filter((name) => response[name])
    const encoded = given.map((name) => [name, toBase64url(response[name])])
    return { id, type: 'public-key', response: Object.fromEntries(encoded) }
  }
}

function toBase64url(buffer) {
  const base64 = btoa(String.fromCharCode(...new Uint8Array(buffer)))
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
