import { encode } from 'uqr'

/** A QR code as the path data of an SVG. A module, the smallest square of the code, is one unit. */
export interface QrCode {
  readonly path: string
  /** The width and the height, including the margin of four modules. */
  readonly size: number
}

/** Draws a text as a QR code (ISO/IEC 18004). Each run of dark modules in a row is one rectangle, which keeps the page small. */
export function qrCode(text: string): QrCode {
  const { data, size } = encode(text, { ecc: 'M', border: 4 })
  const rows = data.map((modules, y) => {
    const row = modules.map((isDark) => (isDark ? '#' : ' ')).join('')
    return [...row.matchAll(/#+/g)].map(
      ({ 0: run, index }) => `M${index} ${y}h${run.length}v1h-${run.length}z`,
    )
  })
  return { path: rows.flat().join(''), size }
}
