import { Refusal } from '../refusal.ts'

type JsonObject = Readonly<Record<string, unknown>>

const maxDepth = 32

/**
 * Parses a JSON object strictly.
 * @throws {Refusal} 400 with a code: invalid JSON (such as a byte order mark), not an object, a duplicate key, or more
 * than 32 levels
 */
export function parseJsonObject(json: string): JsonObject {
  const value = parse(json)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Refusal('not_a_json_object', 'The body must be a JSON object.')
  refuseDuplicateKeys(json)
  return value as JsonObject
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new Refusal('invalid_json', 'The body is not valid JSON.')
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
      if (keys?.has(key)) throw new Refusal('duplicate_key', `Duplicate key \`${shown(key)}\` in the body.`)
      keys?.add(key)
    }
    if (open.length > maxDepth)
      throw new Refusal('json_too_deep', `The body must not have more than ${maxDepth} levels.`)
  }
}

function shown(key: string): string {
  const line = key.replace(/[\p{C}\p{Z}]/gu, '?')
  return line.length > 40 ? `${line.slice(0, 40).toWellFormed()}...` : line
}
