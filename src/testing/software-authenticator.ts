import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server'
import { selfSigned } from './certificate.ts'

/** The flags of authenticator data (WebAuthn §6.1). */
export const flags = { present: 1, verified: 4, eligible: 8, backedUp: 16, attested: 64 }

/** Values of a forged answer. They replace the right ones. */
export interface Overrides {
  readonly id?: string
  readonly origin?: string
  readonly type?: string
  readonly challenge?: string
  readonly crossOrigin?: unknown
  readonly topOrigin?: string
  readonly rpId?: string
  /** A sum of flags. */
  readonly flags?: number
  readonly counter?: number
  readonly userHandle?: string | null | undefined
  readonly algorithm?: number
  readonly signature?: Buffer
  /** Members of `response`. */
  readonly response?: object
  readonly format?: string
  readonly statement?: Map<string, Cbor>
}

type Cbor = number | string | Uint8Array | readonly Cbor[] | Map<Cbor, Cbor>

/** An authenticator with one passkey on the curve P-256, and its browser. Answers are JSON. `Overrides` forge them. */
export class SoftwareAuthenticator {
  readonly id = randomBytes(32).toString('base64url')
  userHandle: string | undefined
  /** The signature counter. Only tests increase it. */
  counter = 0
  flags = flags.present | flags.verified | flags.eligible | flags.backedUp
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly #origin: string

  constructor(origin: string) {
    this.#origin = origin
  }

  create(options: PublicKeyCredentialCreationOptionsJSON, overrides: Overrides = {}): string {
    this.userHandle = options.user.id
    const client = this.#clientData('webauthn.create', options.challenge, overrides)
    const authData = Buffer.concat([
      this.#authenticatorData(options.rp.id ?? '', flags.attested, overrides),
      this.#attestedCredential(overrides),
    ])
    const statement = overrides.statement ?? this.#statement(overrides.format, authData, client)
    const attestation = new Map<Cbor, Cbor>([['fmt', overrides.format ?? 'none']])
    const attestationObject = cbor(attestation.set('attStmt', statement).set('authData', authData))
    return this.#credential(overrides, {
      clientDataJSON: client.toString('base64url'),
      attestationObject: attestationObject.toString('base64url'),
      transports: ['internal', 'hybrid', 'telepathy', 1],
    })
  }

  get(options: PublicKeyCredentialRequestOptionsJSON, overrides: Overrides = {}): string {
    const client = this.#clientData('webauthn.get', options.challenge, overrides)
    const authData = this.#authenticatorData(options.rpId ?? '', 0, overrides)
    return this.#credential(overrides, {
      clientDataJSON: client.toString('base64url'),
      authenticatorData: authData.toString('base64url'),
      signature: (overrides.signature ?? this.#sign(authData, client)).toString('base64url'),
      userHandle: 'userHandle' in overrides ? overrides.userHandle : this.userHandle,
    })
  }

  #clientData(type: string, challenge: string, overrides: Overrides): Buffer {
    const { crossOrigin = false, topOrigin } = overrides
    const data = { type: overrides.type ?? type, challenge: overrides.challenge ?? challenge }
    return Buffer.from(
      JSON.stringify({ ...data, origin: overrides.origin ?? this.#origin, crossOrigin, topOrigin }),
    )
  }

  #authenticatorData(rpId: string, more: number, overrides: Overrides): Buffer {
    const rest = Buffer.alloc(5)
    rest.writeUInt8((overrides.flags ?? this.flags) | more)
    rest.writeUInt32BE(overrides.counter ?? this.counter, 1)
    return Buffer.concat([sha256(overrides.rpId ?? rpId), rest])
  }

  #attestedCredential({ algorithm = -7, id = this.id }: Overrides): Buffer {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' })
    const key = new Map<Cbor, Cbor>([[1, 2]]).set(3, algorithm).set(-1, 1)
    key.set(-2, Buffer.from(x, 'base64url')).set(-3, Buffer.from(y, 'base64url'))
    const credentialId = Buffer.from(id, 'base64url')
    const length = Buffer.alloc(18)
    length.writeUInt16BE(credentialId.length, 16)
    return Buffer.concat([length, credentialId, cbor(key)])
  }

  #statement(format: string | undefined, authData: Buffer, client: Buffer): Map<string, Cbor> {
    if (format === 'packed')
      return new Map<string, Cbor>([['alg', -7]]).set('sig', this.#sign(authData, client))
    if (format !== 'fido-u2f') return new Map()
    // A self-signed certificate and its signature (WebAuthn §8.6).
    const { key, cert } = selfSigned()
    const point = this.#keys.publicKey.export({ type: 'spki', format: 'der' }).subarray(-65)
    const credentialId = Buffer.from(this.id, 'base64url')
    const signed = [Buffer.alloc(1), authData.subarray(0, 32), sha256(client), credentialId, point]
    const certificate = Buffer.from(cert.replace(/-----.*-----/g, ''), 'base64')
    const x5c: Cbor = [certificate]
    return new Map<string, Cbor>([['x5c', x5c]]).set('sig', sign('sha256', Buffer.concat(signed), key))
  }

  #sign(authData: Buffer, clientData: Buffer): Buffer {
    return sign('sha256', Buffer.concat([authData, sha256(clientData)]), this.#keys.privateKey)
  }

  #credential({ id = this.id, response }: Overrides, right: object): string {
    return JSON.stringify({ id, rawId: id, type: 'public-key', response: { ...right, ...response } })
  }
}

function sha256(value: string | Buffer): Buffer {
  return createHash('sha256').update(value).digest()
}

/** Encodes a value in CBOR (RFC 8949 §3). */
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  if (value instanceof Map) return Buffer.concat([head(5, value.size), ...[...value].flat().map(cbor)])
  return Buffer.concat([head(4, value.length), ...value.map(cbor)])
}

function head(major: number, count: number): Buffer {
  if (count < 24) return Buffer.from([(major << 5) | count])
  return count < 256
    ? Buffer.from([(major << 5) | 24, count])
    : Buffer.from([(major << 5) | 25, count >> 8, count & 255])
}
