/** The instructions of a Dockerfile: their names and their arguments. */
export function parseDockerfile(text: string): [name: string, argument: string][] {
  return contentLines(text.replaceAll(/\\\n\s*/g, '')).map((line) => {
    const [name = '', ...words] = line.split(' ')
    return [name, words.join(' ')]
  })
}

/** The settings of a systemd unit. A setting may have several values. */
export function parseUnit(text: string): Partial<Record<string, string[]>> {
  const settings: Partial<Record<string, string[]>> = {}
  for (const line of contentLines(text)) {
    if (line.startsWith('[')) continue
    const [name = '', ...values] = line.split('=')
    settings[name] = [...(settings[name] ?? []), values.join('=')]
  }
  return settings
}

/** The blocks of a Caddyfile by their first lines. A line without braces has an empty block. */
export interface Block {
  readonly [line: string]: Block
}

export function parseCaddyfile(text: string): Block {
  const lines = contentLines(text)
  const block = (): Block => {
    const content: Record<string, Block> = {}
    for (let line = lines.shift(); line !== undefined && line !== '}'; line = lines.shift())
      content[line.replace(/ \{$/, '')] = line.endsWith(' {') ? block() : {}
    return content
  }
  return block()
}

function contentLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}
