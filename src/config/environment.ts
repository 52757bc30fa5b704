export type Variables = Readonly<Record<string, string | undefined>>

/** The type of a variable. `parse` returns `undefined` for an invalid text. */
export interface VariableType<Value> {
  /** Describes valid texts. It completes the sentence "NAME must be …". */
  readonly expected: string
  parse(text: string): Value | undefined
}

/** The environment is not valid. The message has one line for each mistake. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Reads environment variables and collects all mistakes, so that a start reports them together. */
export class Environment {
  readonly #mistakes = new Set<string>()
  readonly #variables: Variables

  constructor(variables: Variables) {
    this.#variables = variables
  }

  /** The text of a variable. Rejects an empty text: in `.env`, Node reads `NAME=#0055ff` as an empty value with a comment. */
  text(name: string): string | undefined {
    const text = this.#variables[name]?.trim()
    if (text === '')
      this.reject(name, 'is empty. Set it or delete it. In .env, a value with # must be in quotes')
    return text || undefined
  }

  /** The entries of a comma separated list. */
  list(name: string): string[] {
    return splitList(this.text(name) ?? '')
  }

  /** The value of a variable, or the fallback if it is not set. Rejects an invalid text. */
  read<Value, const Fallback>(name: string, type: VariableType<Value>, fallback: Fallback): Value | Fallback {
    const text = this.text(name)
    if (text === undefined) return fallback

    const value = type.parse(text)
    if (value === undefined) this.reject(name, `must be ${type.expected}`)
    return value ?? fallback
  }

  /** Adds the mistake `NAME problem.` to the error. The problem must not contain a secret. */
  reject(name: string, problem: string): void {
    this.#mistakes.add(`${name} ${problem}.`)
  }

  /** @throws {ConfigError} if there was any mistake */
  throwMistakes(): void {
    if (this.#mistakes.size > 0) throw new ConfigError([...this.#mistakes].join('\n'))
  }
}

/**
 * Reads a part of the configuration.
 * @throws {ConfigError} with all mistakes, one line for each
 */
export function readPart<Part>(variables: Variables, read: (environment: Environment) => Part): Part {
  const environment = new Environment(variables)
  const part = read(environment)
  environment.throwMistakes()
  return part
}

export function wholeNumber(minimum: number, maximum: number): VariableType<number> {
  return {
    expected: `a whole number from ${minimum} to ${maximum}`,
    parse(text) {
      const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
      return number >= minimum && number <= maximum ? number : undefined
    },
  }
}

export function oneOf<Choice extends string>(...choices: readonly Choice[]): VariableType<Choice> {
  return {
    expected: `one of ${choices.join(', ')}`,
    parse: (text) => choices.find((choice) => choice === text),
  }
}

/** Decodes percent escapes. Returns `undefined` for an invalid escape or a control character. */
export function decodePercent(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text)
    return /\p{Cc}/u.test(decoded) ? undefined : decoded
  } catch {
    return undefined
  }
}

export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
