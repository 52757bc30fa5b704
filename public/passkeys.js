// Passkeys (WebAuthn). The content security policy allows no `fetch`, so the page contains the passkey options, and a form sends the
// result.

const loadedAt = Date.now()
// Aborts the passkey request of the autofill, because browsers allow only one passkey request at a time.
let autofill = new AbortController()
// The server accepts the passkey options of a page only once, so a click or the autofill must not send the form again.
let isSent = false
// A page in the back/forward cache keeps the variable.
addEventListener('pageshow', () => {
  isSent = false
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
  let isAsking = false
  // A double click must start only one passkey request.
  const start = async () => {
    if (isAsking || isSent) return
    if (Date.now() - loadedAt > options.timeout) {
      message.textContent = 'This page has been open for too long. Reload it, and try again.'
      return
    }
    isAsking = true
    message.textContent = ''
    await ask(form, options).catch(({ name }) => {
      message.textContent = messages[name] ?? 'The passkey did not work. Try again, or use your password.'
      offerAutofill(form, options)
    })
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
  offerAutofill(form, options)
}

async function ask(form, options) {
  autofill.abort()
  if (!options.user) return send(form, await getPasskey(options))
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  send(form, await navigator.credentials.create({ publicKey }))
}

async function offerAutofill(form, options) {
  if (!form.querySelector('[autocomplete~="webauthn"]')) return
  // Created before `await`, so that a click during the wait aborts the autofill.
  autofill.abort()
  autofill = new AbortController()
  const { signal } = autofill
  if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return
  try {
    send(form, await getPasskey(options, { mediation: 'conditional', signal }))
  } catch {
    // The button still works.
  }
}

function getPasskey(options, more) {
  return navigator.credentials.get({
    publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
    ...more,
  })
}

function send(form, credential) {
  if (isSent) return
  isSent = true
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
