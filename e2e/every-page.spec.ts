import type { Page } from '@playwright/test'
import { signIn, signUp } from './forms.ts'
import { type Accident, type Account, expect, test } from './site.ts'
import { expectAccessible, expectSound } from './soundness.ts'

/** A page as somebody may come to see it. */
interface State {
  readonly name: string
  readonly title: string
  open(page: Page, account: Account, accident: Accident): Promise<unknown>
}

const states: State[] = [
  { name: 'home', title: 'Who is asking?', open: (page) => page.goto('/') },
  { name: 'sign-up', title: 'Create an account', open: (page) => page.goto('/signup') },
  {
    name: 'sign-up with every mistake',
    title: 'Error: Create an account',
    async open(page) {
      await page.goto('/signup')
      await signUp(page, { name: '', email: 'ada@', password: 'short', confirmation: 'shorter' })
    },
  },
  {
    name: 'sign-up with an address that is taken',
    title: 'Error: Create an account',
    async open(page, { name, email, password }) {
      await page.goto('/signup')
      await signUp(page, { name, email, password, confirmation: password })
    },
  },
  { name: 'sign-in', title: 'Sign in', open: (page) => page.goto('/login') },
  { name: 'sign-in with a notice', title: 'Sign in', open: (page) => page.goto('/account') },
  {
    name: 'sign-in with a wrong password',
    title: 'Error: Sign in',
    async open(page, { email }) {
      await page.goto('/login')
      await signIn(page, { email, password: 'not the password' })
    },
  },
  { name: 'a refusal, 401', title: 'Error: Unauthorized', open: (page) => page.goto('/me') },
  { name: 'no such page, 404', title: 'Error: Not Found', open: (page) => page.goto('/nowhere') },
  { name: 'no such method, 405', title: 'Error: Method Not Allowed', open: (page) => page.goto('/users') },
  {
    name: 'a form that is too large, 413',
    title: 'Error: Payload Too Large',
    async open(page, { password }) {
      await page.goto('/signup')
      const name = 'x'.repeat(20_000)
      await signUp(page, { name, email: 'x@example.com', password, confirmation: password })
    },
  },
  {
    name: 'home, signed in',
    title: 'Who is asking?',
    async open(page, account) {
      await account.signIn(page)
      await page.goto('/')
    },
  },
  {
    name: 'account',
    title: 'Your account',
    async open(page, account) {
      await account.signIn(page)
      await page.goto('/account')
    },
  },
  {
    name: 'account of somebody with the longest of names and addresses',
    title: 'Your account',
    async open(page, { password }) {
      const email = `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(57)}.eu`
      await page.goto('/signup')
      await signUp(page, { name: 'N'.repeat(100), email, password, confirmation: password })
    },
  },
  {
    name: 'no such page, 404, signed in',
    title: 'Error: Not Found',
    async open(page, account) {
      await account.signIn(page)
      await page.goto('/nowhere')
    },
  },
  {
    name: 'home, unsure who is there',
    title: 'Who is asking?',
    async open(page, account, accident) {
      await account.signIn(page)
      accident.happens()
      await page.goto('/')
    },
  },
  {
    name: 'no such page, 404, unsure who is there',
    title: 'Error: Not Found',
    async open(page, account, accident) {
      await account.signIn(page)
      accident.happens()
      await page.goto('/nowhere')
    },
  },
  {
    name: 'the account while the database is away, 503',
    title: 'Error: Service Unavailable',
    async open(page, account, accident) {
      await account.signIn(page)
      accident.happens()
      await page.goto('/account')
    },
  },
  {
    name: 'signing in while the database is away, 503',
    title: 'Error: Service Unavailable',
    async open(page, account, accident) {
      await page.goto('/login')
      accident.happens()
      await signIn(page, account)
    },
  },
]

for (const { name, title, open } of states) {
  test(`${name}: accessible, and fits, in both sizes and schemes`, async ({ page, account, accident }) => {
    await open(page, account, accident)
    await expect(page).toHaveTitle(`${title} – koa-authenticators`)
    // By then the page's script has done its part.
    await page.waitForLoadState()
    await expect(page.locator('html')).toHaveAttribute('lang', 'en')
    await expect(page.getByRole('heading', { level: 1 })).toHaveCount(1)
    await expectSound(page)
  })
}

test('no two pages share a title', async ({ page, account }) => {
  const titles: string[] = []
  const collect = async (...paths: string[]) => {
    for (const path of paths) {
      await page.goto(path)
      titles.push(await page.title())
    }
  }
  await collect('/', '/signup', '/login', '/me', '/nowhere', '/users')
  await account.signIn(page)
  await collect('/account')
  expect(new Set(titles).size).toBe(titles.length)
})

test('the pages are accessible in the colours of the system, too', async ({ page, account }) => {
  await page.emulateMedia({ forcedColors: 'active' })
  await page.goto('/signup')
  await signUp(page, { name: '', email: '', password: '', confirmation: '' })
  await expect(page.getByRole('alert')).toBeFocused()
  await expectAccessible(page, 'on the sign-up page')
  await account.signIn(page)
  for (const path of ['/', '/account', '/nowhere']) {
    await page.goto(path)
    await expectAccessible(page, `on ${path}`)
  }
})
