/** The site, as authenticators and browsers identify it. */
export interface RelyingParty {
  /** The host that passkeys belong to. A change makes all passkeys useless. */
  readonly id: string
  /** The origin of the pages, such as `https://example.com`. */
  readonly origin: string
  /** The name that authenticators show. */
  readonly name: string
  /** 32 bytes that sign challenges and derive user handles. */
  readonly key: Buffer
}

/** The accepted algorithms of COSE: EdDSA, ES256 and RS256. */
export const algorithms = [-8, -7, -257]
