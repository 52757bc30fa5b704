import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { SecretsKey } from '../../config/secrets-keys.ts'

/** The error for a secret in the database that no key of `SECRETS_KEY` can decrypt. */
export class UnreadableSecret extends Error {
  override readonly name = 'UnreadableSecret'
  // 503, because another process may have a newer key, and this one gets it when it restarts.
  readonly status = 503
}

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** Encrypts secrets for the database with AES-256-GCM, so that a stolen database reveals no secret. */
export class SecretBox {
  readonly #keys: readonly SecretsKey[]
  readonly #newest: SecretsKey

  /** @param keys The first key encrypts, and all keys decrypt */
  constructor(keys: readonly SecretsKey[]) {
    const [newest] = keys
    if (!newest) throw new Error('A secret box needs a key.')
    this.#keys = keys
    this.#newest = newest
  }

  /** @param owner the id of the user, which decryption checks. Otherwise a secret could be moved to another account */
  encrypt(secret: Uint8Array, owner: string): string {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv(algorithm, this.#newest.bytes, nonce).setAAD(Buffer.from(owner))
    const content = Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()])
    return this.prefix + content.toString('base64url')
  }

  /** @throws {UnreadableSecret} if the key is missing or wrong, or if the text or its owner was changed */
  decrypt(text: string, owner: string): Buffer {
    const [id, encoded = ''] = text.split('.')
    const key = this.#keys.find((each) => each.id === id)
    if (!key) throw new UnreadableSecret(`SECRETS_KEY has no key "${id}", which encrypted a secret.`)
    const content = Buffer.from(encoded, 'base64url')
    try {
      const decipher = createDecipheriv(algorithm, key.bytes, content.subarray(0, nonceBytes), {
        authTagLength: tagBytes,
      })
      decipher.setAAD(Buffer.from(owner)).setAuthTag(content.subarray(-tagBytes))
      return Buffer.concat([decipher.update(content.subarray(nonceBytes, -tagBytes)), decipher.final()])
    } catch (cause) {
      throw new UnreadableSecret(`The key "${id}" of SECRETS_KEY cannot decrypt a secret.`, { cause })
    }
  }

  /** The prefix of every text that the newest key encrypted. */
  get prefix(): string {
    return `${this.#newest.id}.`
  }

  /** Derives a key of 32 bytes for another purpose from the newest key (RFC 5869). */
  deriveKey(purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#newest.bytes, '', purpose, 32))
  }
}
