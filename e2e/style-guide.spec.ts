import { expectNoOverlaps } from './overlaps.ts'
import { expect, test } from './site.ts'
import { expectAccessible, expectSound, expectToFit } from './soundness.ts'

test('the components are accessible in all states', async ({ page }) => {
  await page.goto('/styleguide')
  await expectSound(page, 'Style guide')
})

test('the components are accessible with forced colours', async ({ page }) => {
  await page.emulateMedia({ forcedColors: 'active' })
  await page.goto('/styleguide')
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await expectAccessible(page, 'with forced colours')
})

// WCAG 2.2, 1.4.4
test('the components fit at twice the font size, and do not overlap at any width', async ({ page }) => {
  await expectNoOverlaps(page, '/styleguide')
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Page.setFontSizes', { fontSizes: { standard: 32 } })
  await page.goto('/styleguide')
  await expectToFit(page, 1280)
  await expectToFit(page, 640)
})
