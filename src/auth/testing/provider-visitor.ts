import { Browser } from './browser.ts'

/** A person at the pages of node-oidc-provider. Signs in and consents, or cancels, until the provider redirects to another origin. */
export class ProviderVisitor {
  readonly #login: string
  readonly #browser = new Browser('')

  constructor(login: string) {
    this.#login = login
  }

  /** Opens a URL of the provider. Returns the first URL of another origin. */
  async open(start: URL, { cancel = false } = {}): Promise<URL> {
    let response = await this.#browser.get(start.href)
    for (let page = 0; page < 20; page += 1) {
      const location = response.headers.get('location')
      const url = new URL(location ?? '', start.origin)
      if (location !== null && url.origin !== start.origin) return url
      response =
        location === null
          ? await this.#fillIn(start.origin, response, cancel)
          : await this.#browser.get(url.href)
    }
    throw new Error('The provider does not come to an end.')
  }

  async #fillIn(origin: string, response: Response, cancel: boolean): Promise<Response> {
    const page = await response.text()
    const of = (pattern: RegExp) => pattern.exec(page)?.[1] ?? ''
    if (cancel) return this.#browser.get(new URL(of(/href="([^"]*\/abort)"/), origin).href)
    const action = of(/<form[^>]*action="([^"]*)"/)
    if (action === '') throw new Error(`${response.status}: ${page}`)
    const prompt = of(/name="prompt" value="([^"]*)"/)
    return this.#browser.post(new URL(action, origin).href, { prompt, login: this.#login, password: 'any' })
  }
}
