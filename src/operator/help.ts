import type { Command } from './command.ts'
import { commands } from './commands.ts'

const start = 'npm run user --'
const explanations = {
  EMAIL: 'the address as it was written at sign-up',
  '--name NAME': 'the name of the new account, in quotes if it has spaces',
  '--admin': 'an account of the table of admins, who may see GET /secure, instead of a user',
  '--generate': 'make a password and print it, once',
  '--json': 'for a program',
}
const passwords = `A password is never an argument, which others on the machine could read: it is asked for without
being shown, or is the first line of standard input if that is no terminal.`

/** What `--help` prints: about one command, or about all. */
export function help(name?: string): string {
  const command = name === undefined ? undefined : commands.get(name)
  return name && command ? helpAbout(name, command) : helpAboutAll()
}

function helpAbout(name: string, { usage, summary, details }: Command): string {
  const words = Object.entries(explanations).filter(([word]) => usage.includes(word))
  const lines = words.map(([word, explanation]) => `  ${word.padEnd(12)}  ${explanation}`)
  const notes = [usage.includes('--generate') ? passwords : undefined, details]
  return [`${start} ${name} ${usage}`, `${summary}.`, lines.join('\n'), ...notes].filter(Boolean).join('\n\n')
}

function helpAboutAll(): string {
  const lines = [...commands].map(([name, { summary }]) => `  ${name.padEnd(12)}  ${summary}`)
  return [
    'Looks after the accounts of users and, with --admin, of admins, while the site runs or not.',
    lines.join('\n'),
    `More about one of them: ${start} COMMAND --help`,
    'The database is the one of the site: DATABASE_URL, or site.sqlite in DATA_DIR (data/).',
  ].join('\n\n')
}
