import type { siteData } from './brand.ts'

/** The same data for every request. `version` is that of the static files, for their URLs. */
export type SiteData = Partial<ReturnType<typeof siteData>> & { readonly version?: string }

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

/** The data of the pages by their view. A feature adds its own pages: `declare module '../../site/view-data.ts' { interface PageData { … } }`. */
export interface PageData {
  'link-gone': { isReset: boolean; verified?: string | undefined }
  error: {
    type: string
    status: number
    title: string
    detail: string
    /** Whether a link to the same page repeats the request. */
    canRetry: boolean
  }
}
