import type { BrandColor } from '../config/branding.ts'
import type { Config } from '../config/config.ts'

/** The configured data of every page. */
export function siteData({ mail, publicUrl, ...config }: Config) {
  return {
    site: config.siteName,
    // Without it, each page has the origin of its request.
    ...(publicUrl && { origin: publicUrl.origin }),
    tagline: config.siteTagline,
    support: config.supportUrl,
    // Whether pages load `/brand.css`.
    hasBrandColor: config.brandColor !== undefined,
    hasMail: mail !== undefined,
    providers: config.providers.map(({ id, label }) => ({ id, label })),
    // The folder of the mails, if the site writes them to files.
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
