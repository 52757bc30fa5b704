import type { EtaConfig } from 'eta'

/**
 * For Eta: says with character references what templates themselves say beyond ASCII. V8 keeps a text at one byte a character
 * as long as it can, and such a page is built and written sooner; a name that needs two bytes is sent as it is.
 */
export const ascii: EtaConfig['plugins'][number] = {
  processAST: (parts) =>
    parts.map((part) => (typeof part === 'string' ? part.replace(/\P{ASCII}/gu, reference) : part)),
}

function reference(character: string): string {
  return `&#${character.codePointAt(0)};`
}
