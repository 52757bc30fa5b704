// Optional improvements. Only passkeys need this script.

const liveRegion = document.createElement('p')
liveRegion.className = 'visually-hidden'
liveRegion.setAttribute('role', 'status')
document.body.append(liveRegion)

for (const input of document.querySelectorAll('input[type="password"]')) addShowButton(input)
if (navigator.clipboard) {
  for (const code of document.querySelectorAll('.terminal code')) {
    const terminal = code.closest('.terminal')
    terminal.append(copyButton(terminal.getAttribute('aria-label'), 'quiet', () => `${code.textContent}\n`))
  }
  for (const field of document.querySelectorAll('textarea[readonly]')) {
    field.after(copyButton(field.labels[0].textContent.trim(), '', () => field.dataset.copy ?? field.value))
  }
}
for (const actions of document.querySelectorAll('[data-print]')) {
  actions.append(downloadButton(actions.dataset.print), printButton())
}
for (const form of document.forms) sendOnce(form)
for (const link of document.querySelectorAll('details [data-close]')) closeInPlace(link)
document.querySelector('#error-summary, #notice')?.focus()
for (const time of document.querySelectorAll('time')) showLocalTime(time)
for (const menu of document.querySelectorAll('.menu')) closeMenu(menu)
// Older browsers do not have this function, so they cannot parse the passkey options in the page.
const hasPasskeys = Boolean(window.PublicKeyCredential?.parseRequestOptionsFromJSON)
for (const hint of document.querySelectorAll('[data-without-passkey]')) hint.hidden = hasPasskeys
if (hasPasskeys && document.querySelector('[data-passkey]'))
  import(`/passkeys.js${new URL(import.meta.url).search}`)

/** Writes the time in the time zone of the user. */
function showLocalTime(time) {
  const date = new Date(time.dateTime)
  const zone = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' }
  time.title = date.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short' })
  if ('local' in time.dataset)
    time.textContent = date.toLocaleString('en-GB', { day: 'numeric', month: 'short', ...zone })
}

function closeMenu(menu) {
  document.addEventListener('click', ({ target }) => {
    if (!menu.contains(target)) menu.open = false
  })
  menu.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return
    menu.open = false
    menu.querySelector('summary').focus()
  })
}

function addShowButton(input) {
  const label = input.labels[0].textContent.trim().toLowerCase()
  const button = newButton('show quiet')
  button.setAttribute('aria-controls', input.id)
  button.addEventListener('click', () => {
    show(input.type === 'password')
    liveRegion.textContent = `Your password is ${input.type === 'text' ? 'visible' : 'hidden'}`
  })
  show(false)
  input.after(button)

  // Hide the password before it is sent, because browsers store the text of a plain field for autofill.
  input.form.addEventListener('submit', () => show(false))

  function show(isVisible) {
    input.type = isVisible ? 'text' : 'password'
    button.textContent = isVisible ? 'Hide' : 'Show'
    button.setAttribute('aria-label', `${button.textContent} ${label}`)
    button.setAttribute('aria-pressed', String(isVisible))
  }
}

function copyButton(name, kind, read) {
  const button = newButton(`copy ${kind}`)
  button.textContent = 'Copy'
  button.setAttribute('aria-label', `Copy: ${name}`)
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(read())
    button.textContent = 'Copied'
    liveRegion.textContent = `Copied: ${name}`
    setTimeout(() => {
      button.textContent = 'Copy'
      liveRegion.textContent = ''
    }, 2000)
  })
  return button
}

/** Saves the texts of the sheet on paper as a file. */
function downloadButton(name) {
  const button = newButton('quiet')
  button.textContent = 'Download'
  button.addEventListener('click', () => {
    const sheet = button.closest('.printed')
    const lines = [
      sheet.querySelector('.on-paper').textContent,
      '',
      sheet.querySelector('textarea').value,
      '',
    ]
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([lines.join('\n')], { type: 'text/plain' }))
    link.download = name
    link.click()
    URL.revokeObjectURL(link.href)
  })
  return button
}

function printButton() {
  const button = newButton('quiet')
  button.textContent = 'Print'
  button.addEventListener('click', () => print())
  return button
}

/**
 * Ignores the second submit of a double click. The server may reject that submit, for example because the first one has already used
 * the token of a link. A button whose request takes long shows that it is busy.
 */
function sendOnce(form) {
  let sentAt = Number.NEGATIVE_INFINITY
  form.addEventListener('submit', (event) => {
    if (event.timeStamp - sentAt < 1000) return event.preventDefault()
    sentAt = event.timeStamp
    const button = event.submitter
    const show = (isBusy) => {
      form.setAttribute('aria-busy', isBusy)
      button?.classList.toggle('busy', isBusy)
    }
    const timer = setTimeout(() => show(!event.defaultPrevented), 300)
    addEventListener('pagehide', () => {
      clearTimeout(timer)
      show(false)
    })
  })
}

/** Without this script, the link loads the page again, which closes the details. */
function closeInPlace(link) {
  const details = link.closest('details')
  link.addEventListener('click', (event) => {
    event.preventDefault()
    details.open = false
    details.querySelector('summary').focus()
  })
}

function newButton(kind) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = `button ${kind}`
  return button
}
