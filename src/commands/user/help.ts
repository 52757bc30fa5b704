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
  --disabled         list only disabled accounts
  --unverified       list only accounts whose address nobody has proved
  --with-factors     list only accounts with an authenticator app or a passkey
  --without-factors  list only accounts with neither
  --since TIME  only events from this time on, such as 30m, 2h, 7d, 2026-11-28 or 2026-11-28T13:00:00Z
  --yes        confirm that all users are signed out
  --json       print JSON, one object a line. To hide the output of npm: npm run --silent user -- list --json

If a user has forgotten the password, use reset, or reset-link if the site sends no mail. The link works once, for one hour.
The old password works until the user chooses a new one. The new password ends all sessions and tokens, and clears the account's
rate limit for passwords. You never see the password. Reset links are for users only: for an admin, use set-password.

If a user has lost the authenticator app and all recovery codes, check who is asking, then use remove-factors. After that, the
password alone signs in. A verified address gets a notice if the site sends mail. list shows which accounts have an app or
passkeys.

Passwords are never arguments, because other users of the machine could read them. The commands ask for a password
without showing it. Without a terminal they read the first line of standard input.

After disable, POST /validateLoggedInUser accepts signed tokens (JWT) for up to 15 more minutes, because this route runs no
query.

The commands use the database of the site: DATABASE_URL, or site.sqlite in DATA_DIR (data/). Links start with PUBLIC_URL, or with
http://localhost:PORT in development.`
