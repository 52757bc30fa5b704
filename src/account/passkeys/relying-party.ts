/** The relying party of WebAuthn: the site, as browsers and authenticators identify it. */
export interface RelyingParty {
  /** The host that passkeys belong to. If it changes, no existing passkey works. */
  readonly id: string
  /** The origin of the pages, such as `https://example.com`. */
  readonly origin: string
  /** The name that authenticators show. */
  readonly name: string
  /** 32 bytes that sign challenges and derive user handles. */
  readonly key: Buffer
}

/** The accepted COSE algorithms: EdDSA, ES256 and RS256. */
export const algorithms = [-8, -7, -257]
