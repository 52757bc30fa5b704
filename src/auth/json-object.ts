import { isUtf8 } from 'node:buffer'

/** A JSON object from outside, with members of unknown types. */
export type JsonObject = Readonly<Record<string, unknown>>

const maxDepth = 32

/** Parses a JSON object in UTF-8 without duplicate keys (RFC 7515 §4) and with at most 32 levels, else `undefined`. */
export function parseJsonObject(bytes: Buffer): JsonObject | undefined {
  if (!isUtf8(bytes)) return undefined
  try {
    const text = bytes.toString()
    const value: unknown = JSON.parse(text)
    return isObject(value) && countColons(text) === countMembers(value, maxDepth) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// Each colon outside strings is one key. `JSON.parse` keeps only the last of duplicate keys, so the counts differ.
function countColons(json: string): number {
  return json.replace(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1
}

function countMembers(value: unknown, levels: number): number {
  if (typeof value !== 'object' || value === null) return 0
  // `NaN` equals no number of colons, so too many levels are rejected.
  if (levels === 0) return Number.NaN
  const children: unknown[] = Object.values(value)
  let count = Array.isArray(value) ? 0 : children.length
  for (const child of children) count += countMembers(child, levels - 1)
  return count
}
