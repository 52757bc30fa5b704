/** The help text of `npm run user`. */
export const help = `npm run user -- COMMAND

Manages the accounts of users and, with --admin, of admins. The site may run meanwhile.

  add EMAIL --name NAME [--admin] [--generate]  Create an account
  list [--admin] [--json]                       List all accounts
  set-password EMAIL [--admin] [--generate]     Set a new password, end sessions and tokens, reset the throttle
  disable EMAIL [--admin]                       Disable an account, end its sessions and tokens
  enable EMAIL [--admin]                        Enable a disabled account
  delete EMAIL [--admin]                        Delete an account with its sessions and tokens

  EMAIL        the address as it was written at sign-up
  --name NAME  the name of the new account, in quotes if it has spaces
  --admin      an admin, who may use GET /secure, instead of a user
  --generate   generate a password and print it once
  --json       print JSON. Without the output of npm: npm run --silent user -- list --json

The password is not an argument, because other users of the machine could read it. The command asks for it without
showing it. Without a terminal it reads the first line of standard input.

After disable, POST /validateLoggedInUser accepts signed tokens (JWT) for up to 15 more minutes, because it reads no
database.

The database is that of the site: DATABASE_URL, or site.sqlite in DATA_DIR (data/).`
