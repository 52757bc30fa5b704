import { encode } from 'uqr'

/**
 * Draws a text as a QR code (ISO/IEC 18004).
 *
 * @returns the path data of an SVG, and the width and the height including the margin. A module, the smallest square of the code, is
 * one unit
 */
export function qrCode(text: string): { path: string; size: number } {
  const { data, size } = encode(text, { ecc: 'M', border: 4 })
  const squares = data.map((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
  return { path: squares.flat().join(''), size }
}
