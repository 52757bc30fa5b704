import { commands } from './commands.ts'

const lines = [...commands].map(([name, [, usage, summary]]) => `  ${name} ${usage}\n      ${summary}`)

export const help = `npm run user -- COMMAND

Manage user and admin accounts. Safe to run while the site is running.

${lines.join('\n')}

  EMAIL        the e-mail address of the account, case-sensitive
  --name NAME  the name of the new account, in quotes if it has spaces
  --admin      use the account of an admin, not of a user. Admins can only use GET /secure
  --generate   generate a password and print it once
  --invite     mail a link to choose the first password. The link works once, for 24 hours
  --with-factors  list only accounts with an authenticator app or a passkey
  --since TIME  only events from this time on, such as 30m, 2h, 7d, 2026-11-28 or 2026-11-28T13:00:00Z
  --yes        confirm that all users are signed out
  --json       print JSON, one object a line. To hide the output of npm: npm run --silent user -- list --json

add and set-password ask for a password. Without a terminal, they read the first line of standard input.
docs/operations.md, "Accounts", explains what to do for a forgotten password or a lost authenticator app.

The commands use the database of the site: DATABASE_URL, or site.sqlite in DATA_DIR (data/). Links start with PUBLIC_URL, or with
http://localhost:PORT in development.`
