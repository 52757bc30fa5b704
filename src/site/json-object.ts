import { type JsonObject, JsonObjectError, maxDepth, readJsonObject } from '../auth/json-object.ts'
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
    throw error instanceof JsonObjectError ? new Refusal(error.code, detailOf(error)) : error
  }
}

function detailOf({ code, key }: JsonObjectError): string {
  return {
    invalid_json: 'The body is not valid JSON.',
    not_a_json_object: 'The body must be a JSON object.',
    duplicate_key: `Duplicate key \`${shown(key)}\` in the body.`,
    json_too_deep: `The body must not have more than ${maxDepth} levels.`,
  }[code]
}

function shown(key: string): string {
  const line = key.replace(/[\p{C}\p{Z}]/gu, '?')
  return line.length > 40 ? `${line.slice(0, 40).toWellFormed()}...` : line
}
