import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { expect, type Locator, type Page } from '@playwright/test'

const schemes = ['light', 'dark'] as const

/** Expects a page with this title to be accessible, at several widths, in the light and the dark theme. */
export async function expectSound(page: Page, title: string): Promise<void> {
  await expect(page).toHaveTitle(`${title} – koa-authenticators`)
  // Waits until the script of the page has run.
  await page.waitForLoadState()
  await expect(page.locator('html')).toHaveAttribute('lang', 'en')
  await expect(page.getByRole('heading', { level: 1 })).toHaveCount(1)
  await expectSoundForms(page)
  await expectToFit(page, 320)
  for (const width of [390, 1280]) {
    await expectToFit(page, width)
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme })
      // The themes differ in their colours only.
      const rules = colorScheme === 'dark' ? ['color-contrast'] : undefined
      await expectAccessible(page, `on "${title}" at ${width} px, ${colorScheme}`, rules)
    }
  }
}

/** Expects no violation of axe's rules. With `rules`, checks only these. */
export async function expectAccessible(page: Page, where: string, rules?: string[]): Promise<void> {
  await loadAxe(page)
  const options = {
    resultTypes: ['violations'],
    // axe disables `target-size` by default (WCAG 2.2, 2.5.8).
    ...(rules ? { runOnly: rules } : { rules: { 'target-size': { enabled: true } } }),
  }
  // Returns only the violations, because the whole result is large.
  const violations = await page.evaluate<Violation[]>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  expect(found, `violations ${where}`).toEqual([])
}

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Loads axe into this page and the next ones. An init script takes less time than `evaluate`. */
async function loadAxe(page: Page): Promise<void> {
  if (await page.evaluate<boolean>('"axe" in globalThis')) return
  await page.addInitScript(axe)
  await page.evaluate(axe)
}

/** Expects no horizontal scrolling (WCAG 2.2, 1.4.10). */
export async function expectToFit(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 800 })
  const needed = await page.evaluate<number>('document.documentElement.scrollWidth')
  expect(needed, `the page scrolls horizontally at ${width} px`).toBeLessThanOrEqual(width)
}

/** Expects forms that password managers support, with pasting allowed. */
async function expectSoundForms(page: Page): Promise<void> {
  await expect(page.locator('[onpaste]')).toHaveCount(0)
  // A form with GET would put its values into the address.
  await expect(page.locator('form[method="get"] [name]')).toHaveCount(0)
  for (const form of await page.locator('form:not([method="get"])').all()) {
    await expect(form).toHaveAttribute('method', 'post')
    const buttons = await form.locator('button[type="submit"]').all()
    expect(buttons).not.toEqual([])
    for (const button of buttons) await expect(button).toBeEnabled()
    const passwords = await form.locator('input[type="password"]').all()
    for (const password of passwords) await expectSoundPassword(password)
    if (passwords.length > 0) await expect(form.locator('input[autocomplete~="username"]')).toHaveCount(1)
  }
  await expect(page.locator('input:not(form input)')).toHaveCount(0)
}

async function expectSoundPassword(password: Locator): Promise<void> {
  await expect(password).toHaveAttribute('autocomplete', /^(current|new)-password$/)
  await expect(password).not.toHaveAttribute('maxlength')
  await expect(password).toBeEditable()
  await expect(password).toHaveValue('')
}
