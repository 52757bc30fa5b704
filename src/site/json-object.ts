type JsonObject = Readonly<Record<string, unknown>>

const maxDepth = 32

/**
 * Parses a JSON object strictly. Returns `undefined` for a byte order mark, another value than an object, a duplicate
 * key or more than 32 levels. Never throws.
 */
export function parseJsonObject(text: string): JsonObject | undefined {
  try {
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
  // `NaN` equals no count of colons, so a deeper object is refused.
  if (levels === 0) return Number.NaN
  const children: unknown[] = Object.values(value)
  let count = Array.isArray(value) ? 0 : children.length
  for (const child of children) count += countMembers(child, levels - 1)
  return count
}
