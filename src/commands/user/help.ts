import type { Command } from './command.ts'
import { commands } from './commands.ts'

const start = 'npm run user --'
const explanations = {
  EMAIL: 'the address as it was written at sign-up',
  '--name NAME': 'the name of the new account, in quotes if it has spaces',
  '--admin': 'an admin, who may use GET /secure, instead of a user',
  '--generate': 'generate a password and print it once',
  '--json': 'print JSON',
}
const passwords = `The password is not an argument, because others on the machine could read it. The command asks for it without showing
it. Without a terminal it reads the first line of standard input.`

/** The help text of one command, or of all. */
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
    'Manages the accounts of users and, with --admin, of admins. The site may run meanwhile.',
    lines.join('\n'),
    `Help for one command: ${start} COMMAND --help`,
    'The database is that of the site: DATABASE_URL, or site.sqlite in DATA_DIR (data/).',
  ].join('\n\n')
}
