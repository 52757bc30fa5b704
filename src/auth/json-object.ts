import { isUtf8 } from 'node:buffer'

/** A JSON object from outside, with members of unknown types. */
export type JsonObject = Readonly<Record<string, unknown>>

/** A text is not a JSON object, or one that other programs may read differently. */
export class JsonObjectError extends Error {
  override readonly name = 'JsonObjectError'
  readonly code: 'invalid_json' | 'not_a_json_object' | 'duplicate_key' | 'json_too_deep'

  constructor(code: JsonObjectError['code']) {
    super(code)
    this.code = code
  }
}

const maxDepth = 32

/** Parses a JSON object in UTF-8 as strictly as `readJsonObject`, else returns `undefined`. */
export function parseJsonObject(bytes: Buffer): JsonObject | undefined {
  if (!isUtf8(bytes)) return undefined
  try {
    return readJsonObject(bytes.toString())
  } catch {
    return undefined
  }
}

/**
 * Parses a JSON object without duplicate keys (RFC 7515 §4) and with at most 32 levels.
 * @throws {JsonObjectError}
 */
export function readJsonObject(json: string): JsonObject {
  const value = parse(json)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new JsonObjectError('not_a_json_object')
  refuseDuplicateKeys(json)
  return value as JsonObject
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new JsonObjectError('invalid_json')
  }
}

// `JSON.parse` keeps only the last of duplicate keys. In valid JSON, a string before a colon is a key.
function refuseDuplicateKeys(json: string): void {
  const open: Set<string>[] = []
  for (const [token, colon] of json.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g)) {
    if (token === '{' || token === '[') open.push(new Set())
    else if (token === '}' || token === ']') open.pop()
    else if (colon !== undefined) {
      const key: string = JSON.parse(token.slice(0, -colon.length))
      const keys = open.at(-1)
      if (keys?.has(key)) throw new JsonObjectError('duplicate_key')
      keys?.add(key)
    }
    if (open.length > maxDepth) throw new JsonObjectError('json_too_deep')
  }
}
