import { type JsonObject, JsonObjectError, readJsonObject } from '../auth/json-object.ts'
import { Refusal } from '../refusal.ts'

/**
 * Parses a JSON object strictly.
 * @throws {Refusal} 400 with a code: invalid JSON (such as a byte order mark), not an object, a duplicate key, or more
 * than 32 levels
 */
export function parseJsonObject(json: string): JsonObject {
  try {
    return readJsonObject(json)
  } catch (error) {
    if (!(error instanceof JsonObjectError)) throw error
    const { code, key } = error
    throw new Refusal(
      code,
      code === 'duplicate_key' ? `Duplicate key \`${shown(key)}\` in the body.` : undefined,
    )
  }
}

function shown(key: string): string {
  const line = key.replace(/[\p{C}\p{Z}]/gu, '?')
  return line.length > 40 ? `${line.slice(0, 40).toWellFormed()}...` : line
}
