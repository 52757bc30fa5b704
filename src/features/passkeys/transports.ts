import type { AuthenticatorTransport, PublicKeyCredentialDescriptorJSON } from '@simplewebauthn/server'
import type { Passkey } from './passkey.ts'

const known: readonly unknown[] = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']

/** The known transports of an answer, as the column `transports` stores them. */
export function storedTransports(transports: unknown): string {
  return Array.isArray(transports) ? known.filter((each) => transports.includes(each)).join(' ') : ''
}

/** The descriptor of a passkey in the options of a ceremony. */
export function descriptor({ credentialId: id, transports }: Passkey): PublicKeyCredentialDescriptorJSON {
  // Only `storedTransports` writes the column.
  const stored = transports.split(' ').filter((each) => each !== '') as AuthenticatorTransport[]
  return { id, type: 'public-key', ...(stored.length > 0 && { transports: stored }) }
}
