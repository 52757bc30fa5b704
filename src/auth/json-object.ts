/** A JSON object from outside: its members are unknown until somebody has proven them. */
export type JsonObject = Readonly<Record<string, unknown>>

const deepest = 32
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The JSON object in these bytes, read strictly: `undefined` if they are not UTF-8, begin with a byte order mark, are no
 * object, have a member twice (RFC 7515 §4) or nest deeper than 32 levels. Never throws.
 */
export function parseJsonObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const text = utf8.decode(bytes)
    const value: unknown = JSON.parse(text)
    return isObject(value) && countColons(text) === countMembers(value, deepest) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// A colon outside strings is a member as written. `JSON.parse` keeps the last of several with one name: then fewer are left.
function countColons(json: string): number {
  return json.replace(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1
}

function countMembers(value: unknown, levels: number): number {
  if (typeof value !== 'object' || value === null) return 0
  // Equal to no count of colons.
  if (levels === 0) return Number.NaN
  const children: unknown[] = Object.values(value)
  let count = Array.isArray(value) ? 0 : children.length
  for (const child of children) count += countMembers(child, levels - 1)
  return count
}
