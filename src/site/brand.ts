import type { Config } from '../config/config.ts'
import type { SiteData } from './view-data.ts'

/** The configured data of every page. */
export function siteData({
  siteName,
  siteTagline,
  supportUrl,
  brandColor,
  mail,
  providers,
}: Config): SiteData {
  return {
    site: siteName,
    tagline: siteTagline,
    support: supportUrl,
    hasBrandColor: brandColor !== undefined,
    hasMail: mail !== undefined,
    providers: providers.map(({ id, label }) => ({ id, label })),
    mailFolder: mail?.server ? undefined : mail?.folder,
  }
}

/** The style sheet with the colours of the configuration. It overrides custom properties of public/style.css. */
export function brandFiles({ brandColor }: Config): Record<string, string> {
  if (!brandColor) return {}
  const { light, dark } = brandColor
  return {
    'brand.css': `:root {
  --accent: light-dark(${light}, ${dark});
  --on-accent: light-dark(#ffffff, #000000);
}
`,
  }
}
