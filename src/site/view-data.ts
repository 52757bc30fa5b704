import type { IdentityRecord } from '../users/linked-identity.ts'
import type { NewTokenRecord, PasskeyRecord, SessionRecord, TokenRecord } from './records.ts'

/** The same data for every request, from the configuration. */
export interface SiteData {
  /** The name of the site. */
  readonly site?: string
  /** The version of the static files, for their URLs. */
  readonly version?: string
  /** A sentence about the site, for its home page and for previews of links to it. */
  readonly tagline?: string | undefined
  /** The `https:` or `mailto:` URL for questions, if it is configured. */
  readonly support?: string | undefined
  /** Whether pages load `/brand.css`, which has the configured accent colours. */
  readonly hasBrandColor?: boolean
  readonly hasMail?: boolean
  /** The identity providers that users can sign in with. */
  readonly providers?: readonly { readonly id: string; readonly label: string }[]
  /** The origin of `PUBLIC_URL`. Without it, each page has the origin of its request. */
  readonly origin?: string
  /** The folder of the mails, if the site writes them to files. */
  readonly mailFolder?: string | undefined
}

/** The data of every page. */
export type Common = SiteData & {
  /** The signed-in user. */
  user?: { name: string; email: string } | undefined
  /** The picture of the user in the header: initials, and the number of a colour. */
  avatar?: { initials: string; tone: number } | undefined
  /** The theme that the user has chosen in this browser: `light` or `dark`. */
  theme?: string | undefined
  /** Whether the user is unknown, because the database is unavailable. */
  isUserUnknown?: boolean
  /** The origin in the commands for a terminal, such as `http://localhost:3000`. */
  origin?: string
  /** The identifier of the request in the log. */
  request?: string | undefined
}

/** A message for a field of a form. If the page has no such field, the message appears in the summary only. */
export type FormMessage = { field?: string | undefined; detail: string; isWarning?: boolean }

/** The data of each view, in addition to the common data. It contains no entities. */
export type Views = { [Name in keyof PageData]: PageData[Name] & Messages }

interface Messages {
  /** The errors of a rejected form. */
  errors?: readonly FormMessage[]
  /** A message about the previous request. */
  notice?: string | undefined
}

interface PageData {
  home: object
  demo: {
    /** What each part of the stack found in this request. */
    trace: {
      session: string
      /** The authenticators of the header `Authorization`. */
      header: [name: string, result: string][]
      /** The time from the first middleware to the handler, in milliseconds. */
      ms: string
    }
  }
  'sign-up': { values?: { name?: string; email?: string }; next?: string | undefined }
  'sign-in': {
    values?: { username?: string; remember?: boolean }
    next?: string | undefined
    /** The options of a passkey ceremony for the script of the page, as JSON. Without them, there is no passkey button. */
    passkeyOptions?: string | undefined
  }
  continue: {
    /** The URL at the provider. */
    url: string
    label: string
  }
  'sign-up-with': {
    label: string
    values: { name: string; email: string }
    next?: string | undefined
  }
  'sign-in-code': { isRecovery: boolean; next?: string | undefined }
  confirm: {
    next?: string | undefined
    /** The path that "Cancel" links to. */
    back: string
    /** What the user wants to do. */
    purpose: string
    hasApp: boolean
    hasPassword: boolean
    /** The ids of the providers whose accounts are connected. */
    connected: readonly string[]
    passkeyOptions?: string | undefined
  }
  security: {
    passwordChangedAt: Date
    /** The time at which the authenticator app was turned on. */
    secondFactorAt: Date | undefined
    /** Whether a second factor can be turned on. In production, this requires `SECRETS_KEY`. */
    isAvailable: boolean
    recoveryCodesLeft: number
    identities: IdentityRecord[]
    hasPassword: boolean
    passkeys: (PasskeyRecord & { isSynced: boolean })[]
    /** Whether the address is confirmed. */
    isVerified: boolean
    /** The action that the user wanted before the confirmation. Its question is open. */
    opened?: string | string[] | undefined
    hasPasskeys: boolean
    /** `undefined` if the session is not fresh or the site does not support passkeys. */
    passkeyOptions?: string | undefined
    /** Whether the session has a proof of identity from the last ten minutes. */
    isFresh: boolean
  }
  'totp-start': object
  'totp-set-up': {
    /** The key in base32. */
    secret: string
    uri: string
    /** The QR code as SVG path data, and its size in modules. */
    qr: { path: string; size: number }
  }
  'recovery-codes': { codes: readonly string[] }
  forgot: { email?: string }
  'forgot-sent': object
  reset: {
    token: string
    email: string
    isFirst: boolean
    /** Whether the app, the passkeys and the connected accounts stay. */
    keepsFactors: boolean
    /** Whether a sign-in also needs a code of an authenticator app. */
    hasApp: boolean
    /** The names of the passkeys of the account. */
    passkeys: readonly string[]
    /** The labels of the connected accounts. */
    identities: readonly string[]
  }
  'link-gone': { isReset: boolean; verified?: string | undefined }
  verify: {
    token: string
    next: string
    email?: string | undefined
    isOtherAccount: boolean
    isRefused: boolean
  }
  profile: {
    user: { name: string; email: string }
    isVerified: boolean
    createdAt: Date
    passwordChangedAt: Date
    /** The new address that waits for its confirmation. */
    pendingEmail?: string | undefined
    /** The first steps of a new user. */
    steps?: readonly { kind: 'address' | 'passkey' | 'app'; isDone: boolean }[] | undefined
    offersPasskey?: boolean
    /** The rejected input of the name form. */
    typedName?: string | undefined
  }
  sessions: {
    sessions: SessionRecord[]
    /** The number of sessions without the current one. */
    others: number
    /** The next page, if there is one. */
    older?: string | undefined
  }
  'api-tokens': {
    tokens: TokenRecord[]
    /** The page with older tokens, if there are any. */
    older?: string | undefined
    created?: NewTokenRecord | undefined
    /** Whether the form is shown. Otherwise, a confirmation is needed first. */
    isFresh: boolean
    values?: { name: string; days: string } | undefined
  }
  'change-password': {
    hasPassword: boolean
    /** The number of API tokens that will be revoked. */
    tokens: number
  }
  'change-email': { needsPassword: boolean; email?: string }
  'close-account': { needsPassword: boolean; isConfirmed?: boolean }
  'account-closed': object
  activity: {
    events: {
      event: string
      detail: string | null
      isRefusal: boolean
      /** Whether it is a recent refusal of an unknown device. */
      isSuspicious: boolean
      at: Date
      device: string
      address: string
    }[]
    /** The chosen filter. */
    kind?: string | undefined
    /** The page with older events, if there are any. */
    older?: string | undefined
  }
  'style-guide': object
  problem: { code: string; title: string; status: number; explanation: string; advice: string }
  error: {
    type: string
    status: number
    title: string
    detail: string
    /** Whether a link to the same page repeats the request. */
    canRetry: boolean
  }
}
