import type { AuthContext } from '../auth.ts'

/** How long a person may take at the provider: ten minutes in milliseconds. */
export const flowLifetime = 10 * 60_000

/** The application's part of a flow: JSON, such as the path to return to. */
export type FlowData = Readonly<Record<string, string | number | boolean | null | undefined>>

/** A new flow. */
export interface NewFlow<Data extends FlowData = FlowData> {
  /** The name of the provider. */
  readonly provider: string
  /** The maximum age of the proof of identity at the provider, in seconds. With 0, the person has to authenticate again. */
  readonly maxAge?: number | undefined
  readonly data?: Data | undefined
}

/** A request that a browser has taken to a provider, and that waits for the answer. */
export interface Flow<Data extends FlowData = FlowData> extends NewFlow<Data> {
  /** Identifies the flow in the answer. */
  readonly state: string
  /** Binds the ID token to the flow. */
  readonly nonce: string
  /** The PKCE verifier, which binds the code to the flow (RFC 7636). */
  readonly verifier: string
}

/** Keeps flows until the browser comes back. */
export interface FlowStore<Data extends FlowData = FlowData> {
  /** Stores a flow for the browser of this request. Chooses its state, nonce and verifier. */
  start(ctx: AuthContext, flow: NewFlow<Data>): Flow<Data> | Promise<Flow<Data>>
  /**
   * Removes a flow. Returns `undefined` if it is unknown, finished or expired, or if another browser has started it.
   * Otherwise, an attacker could sign a victim in to the attacker's account (login CSRF).
   */
  finish(ctx: AuthContext, state: string): Flow<Data> | undefined | Promise<Flow<Data> | undefined>
}
