/** A key as JSON (RFC 7517 §4, RFC 7518 §6, RFC 8037 §2): the members that count here, whichever version of Node's types you have. */
export interface JWK {
  readonly kty?: string | undefined
  readonly kid?: string | undefined
  readonly use?: string | undefined
  readonly key_ops?: readonly string[] | undefined
  readonly alg?: string | undefined
  readonly crv?: string | undefined
  readonly x?: string | undefined
  readonly y?: string | undefined
  readonly n?: string | undefined
  readonly e?: string | undefined
  readonly k?: string | undefined
  readonly d?: string | undefined
  readonly p?: string | undefined
  readonly q?: string | undefined
  readonly dp?: string | undefined
  readonly dq?: string | undefined
  readonly qi?: string | undefined
}
