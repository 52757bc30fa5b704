import type { BrandColor } from '../config/branding.ts'
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
  publicUrl,
}: Config): SiteData {
  return {
    site: siteName,
    ...(publicUrl && { origin: publicUrl.origin }),
    tagline: siteTagline,
    support: supportUrl,
    hasBrandColor: brandColor !== undefined,
    hasMail: mail !== undefined,
    providers: providers.map(({ id, label }) => ({ id, label })),
    mailFolder: mail?.server ? undefined : mail?.folder,
  }
}

/** The web app manifest, and the style sheet with the configured colours. */
export function generatedFiles({ siteName, brandColor }: Config): Record<string, string> {
  const manifest = {
    name: siteName,
    start_url: '/',
    display: 'browser',
    icons: [
      { src: '/favicon.svg', sizes: 'any', type: 'image/svg+xml' },
      { src: '/apple-touch-icon.png', sizes: '180x180', type: 'image/png' },
    ],
  }
  return {
    'manifest.webmanifest': JSON.stringify(manifest),
    ...(brandColor && { 'brand.css': styleSheet(brandColor) }),
  }
}

/** Overrides custom properties of public/style.css. */
function styleSheet({ light, dark }: BrandColor): string {
  return `:root {
  --accent: light-dark(${light}, ${dark});
  --on-accent: light-dark(#ffffff, #000000);
}
`
}
