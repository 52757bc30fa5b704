/** A client that keeps its cookies and follows no redirect, so that a test sees each response. */
export class Browser {
  /** The `Cookie` header. Set it to replay an old one. */
  cookie = ''
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.#send(path, { headers })
  }

  post(
    path: string,
    form: Record<string, string> = {},
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return this.#send(path, { method: 'POST', body: new URLSearchParams(form), headers })
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...init.headers, ...(this.cookie && { cookie: this.cookie }) }
    const response = await fetch(this.#url + path, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) this.#keep(line)
    return response
  }

  #keep(line: string): void {
    const [pair = ''] = line.split(';')
    const [name] = pair.split('=')
    const isExpired = /; expires=Thu, 01 Jan 1970/.test(line)
    const others = this.cookie.split('; ').filter((each) => each !== '' && !each.startsWith(`${name}=`))
    this.cookie = [...others, ...(isExpired ? [] : [pair])].join('; ')
  }
}
