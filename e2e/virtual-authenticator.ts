import type { Page } from '@playwright/test'

/** A simulated authenticator in Chromium, like that of a phone or a laptop, and its simulated user. */
export interface VirtualAuthenticator {
  /** Whether the simulated user answers each request at once, including a pending autofill. */
  setPresent(isPresent: boolean): Promise<void>
  /** Whether the user can show a fingerprint. */
  setVerified(isVerified: boolean): Promise<void>
  /** The number of passkeys. */
  count(): Promise<number>
}

/** Adds an authenticator to the browser of a page. Its user does not answer before `setPresent(true)`. */
export async function addAuthenticator(page: Page): Promise<VirtualAuthenticator> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable', { enableUI: false })
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: false,
      defaultBackupEligibility: true,
      defaultBackupState: true,
    },
  })
  return {
    async setPresent(enabled) {
      await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })
    },
    async setVerified(isUserVerified) {
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })
    },
    async count() {
      return (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length
    },
  }
}
