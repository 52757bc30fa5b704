import { parseEnv } from 'node:util'

/** The name of a variable in `.env` whose value an unquoted `#` cuts in its middle, as Node reads it. A comment begins after a space. */
export function cutVariable(text: string): string | undefined {
  const values = parseEnv(text)
  const lines = text.matchAll(/^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*=[ \t]*([^#\r\n]*[^#\s])#/gm)
  // A line of a quoted value can look like a variable, but does not have this value.
  return [...lines].find(([, name = '', value]) => values[name] === value)?.[1]
}
