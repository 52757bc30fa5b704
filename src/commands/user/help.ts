export const help = `npm run user -- COMMAND

Manage user and admin accounts. Safe to run while the site is running.

  add EMAIL --name NAME [--admin] [--generate]  Create an account
  add EMAIL --name NAME --invite                Create an account whose user chooses the password
  list [--admin] [--json] [FILTER …]            List users or admins that meet all filters
  show EMAIL [--admin] [--json]                 Show one account
  events [EMAIL] [--admin] [--since TIME] [--json]
                                                Print the events of an account or of all accounts
  end-all --yes                                 End the sessions and tokens of all users
  reset EMAIL                                   Mail a link that lets the user choose a new password
  reset-link EMAIL                              Print a link that lets the user choose a new password
  set-password EMAIL [--admin] [--generate]     Set a password yourself. Ends all sessions and tokens
  remove-factors EMAIL                          Remove the authenticator app, recovery codes and passkeys
  disable EMAIL [--admin]                       Block sign-in and end all sessions and tokens
  enable EMAIL [--admin]                        Allow sign-in again
  delete EMAIL [--admin]                        Delete an account with its sessions and tokens

  EMAIL        the e-mail address of the account, case-sensitive
  --name NAME  the name of the new account, in quotes if it has spaces
  --admin      use the account of an admin, not of a user. Admins can only use GET /secure
  --generate   generate a password and print it once
  --invite     mail a link to choose the first password. The link works once, for 24 hours
  --disabled         list only disabled accounts
  --unverified       list only accounts whose address nobody has proved
  --with-factors     list only accounts with an authenticator app or a passkey
  --without-factors  list only accounts with neither
  --since TIME  only events from this time on, such as 2026-11-28 or 2026-11-28T13:00:00Z
  --yes        confirm that all users are signed out
  --json       print JSON, for events one object a line. To hide the output of npm: npm run --silent user -- list --json

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
