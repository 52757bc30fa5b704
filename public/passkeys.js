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
    } catch ({ name }) {
      isBusy = false
      message.textContent = messages[name] ?? 'The passkey did not work. Try again, or use your password.'
      offerAutofill(form, options)
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
    form.append(button)
  }
  form.append(message)
  offerAutofill(form, options)
}

async function offerAutofill(form, options) {
  if (!form.querySelector('[autocomplete~="webauthn"]')) return
  // Created before `await`, so that a click during the wait aborts the autofill.
  autofill.abort()
  autofill = new AbortController()
  const { signal } = autofill
  if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return
  try {
    const credential = await askForPasskey(options, { mediation: 'conditional', signal })
    if (!isBusy) send(form, credential)
  } catch {
    // The button still works.
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
  isBusy = true
  form.querySelector('[name="credential"]')?.remove()
  const field = document.createElement('input')
  field.type = 'hidden'
  field.name = 'credential'
  field.value = JSON.stringify(credential)
  form.append(field)
  // The server needs no password with a passkey.
  if (form.elements.password) form.elements.password.value = ''
  if (form.dataset.action) form.action = form.dataset.action
  form.submit()
}
