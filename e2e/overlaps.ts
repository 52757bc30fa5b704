import { expect, type Page } from '@playwright/test'

/** Expects that no two controls of a page overlap, at any width. */
export async function expectNoOverlaps(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await page.waitForLoadState()
  for (const width of [360, 768, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    expect(await page.evaluate<string[]>(findOverlaps), `${path} at ${width} px`).toEqual([])
  }
}

/** Compares all visible controls, first with every `details` closed, then with each one open. The open menu covers the page. */
const findOverlaps = `(() => {
  const found = []
  const details = [...document.querySelectorAll('details')]
  const check = () => {
    const controls = [...document.querySelectorAll('a, button, summary, input, select, textarea')]
      .filter((element) => element.checkVisibility({ visibilityProperty: true }) && element.type !== 'hidden')
      .flatMap((element) => [...element.getClientRects()].map((box) => ({ element, box })))
    const menuOf = ({ element }) => element.closest('.menu > div')
    const nameOf = ({ element }) => element.textContent.trim() || element.name
    controls.forEach((one, index) => {
      for (const other of controls.slice(index + 1)) {
        const width = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left)
        const height = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top)
        if (one.element !== other.element && menuOf(one) === menuOf(other) && width > 0.5 && height > 0.5)
          found.push(nameOf(one) + ' / ' + nameOf(other))
      }
    })
  }
  check()
  for (const each of details) {
    each.open = true
    check()
    each.open = false
  }
  return found
})()`
