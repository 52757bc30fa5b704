export type Variables = Readonly<Record<string, string | undefined>>

/** What a variable takes, in words and as a parser, which answers `undefined` to a text that it does not take. */
export interface Kind<Value> {
  readonly takes: string
  parse(text: string): Value | undefined
}

/** The environment cannot be used as it is. The message has one line for every mistake. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly code = 'CONFIG'
  readonly mistakes: readonly string[]

  constructor(mistakes: readonly string[]) {
    super(mistakes.join('\n'))
    this.mistakes = mistakes
  }
}

/** Reads environment variables and collects what is wrong with them, so that a start reports everything at once. */
export class Environment {
  readonly #mistakes: string[] = []
  readonly #variables: Variables

  constructor(variables: Variables) {
    this.#variables = variables
  }

  /** The text of a variable; one that is set but empty counts as not set. */
  text(name: string): string | undefined {
    return this.#variables[name]?.trim() || undefined
  }

  /** The entries of a comma separated list. */
  list(name: string): string[] {
    return splitList(this.text(name) ?? '')
  }

  /** The value of a variable, or the fallback; a text of another kind is a mistake. */
  read<Value, Fallback>(name: string, kind: Kind<Value>, fallback: Fallback): Value | Fallback {
    const text = this.text(name)
    if (text === undefined) return fallback

    const value = kind.parse(text)
    if (value === undefined) this.mistake(name, `must be ${kind.takes}`)
    return value ?? fallback
  }

  /** Notes the line `NAME what.` without the value of the variable, which may be a secret. */
  mistake(name: string, what: string): void {
    this.#mistakes.push(`${name} ${what}.`)
  }

  /** @throws {ConfigError} if there was any mistake */
  throwMistakes(): void {
    if (this.#mistakes.length > 0) throw new ConfigError(this.#mistakes)
  }
}

export function wholeNumber(least: number, most: number): Kind<number> {
  return {
    takes: `a whole number from ${least} to ${most}`,
    parse(text) {
      const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
      return number >= least && number <= most ? number : undefined
    },
  }
}

export function oneOf<Choice extends string>(...choices: readonly Choice[]): Kind<Choice> {
  return {
    // Only for a message: the tables of languages take time to load, and most starts have nothing to say.
    get takes() {
      return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(choices)
    },
    parse: (text) => choices.find((choice) => choice === text),
  }
}

export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
