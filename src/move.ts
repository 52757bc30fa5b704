import { realpathSync } from 'node:fs'
import { DriverException } from '@mikro-orm/core'
import { ConfigError, readStorageConfig } from './config.ts'
import { databaseName, isPostgresUrl } from './database/database-url.ts'
import { errorCode } from './database/error-code.ts'
import { DatabaseError, openDatabase } from './database/open-database.ts'
import { Failure } from './failure.ts'
import { connect, identityOf } from './move/connect.ts'
import { type Copied, copyDatabase } from './move/copy-database.ts'

const help = `npm run move -- FROM TO

Copies all accounts, and what belongs to them, from one database into another, which is brought up to date first, and
compares both row by row. It can be run again: then it copies what is different. FROM stays as it is.

  sqlite:data/site.sqlite            a file
  postgres://user@host/database      a database on a server, which is there already; its password is better kept in
                                     PGPASSWORD or ~/.pgpass than here, where others on the machine could read it`

try {
  const words = process.argv.slice(2)
  const wantsHelp = words.length === 0 || words.includes('--help') || words.includes('-h')
  console.log(wantsHelp ? help : await move(words))
} catch (error) {
  console.error(explain(error))
  process.exitCode = 1
}

async function move(words: readonly string[]): Promise<string> {
  const [from, to, ...others] = words
  if (from === undefined || to === undefined || others.length > 0)
    throw new Failure('It takes two databases: npm run move -- FROM TO')
  const [fromUrl, toUrl] = [parse('FROM', from), parse('TO', to)]
  if (placeOf(fromUrl) === placeOf(toUrl)) throw sameTwice()

  const source = { orm: await connect(fromUrl), name: databaseName(fromUrl) }
  try {
    await (await openDatabase(toUrl)).close()
    const target = { orm: await connect(toUrl), name: databaseName(toUrl) }
    try {
      if ((await identityOf(source.orm, fromUrl)) === (await identityOf(target.orm, toUrl))) throw sameTwice()
      const copied = await copyDatabase(source, target)
      return `${table(copied)}\n\n${target.name} has now what ${source.name} has: every row was compared.`
    } finally {
      await target.orm.close()
    }
  } finally {
    await source.orm.close()
  }
}

// The variable's own rules, under the name that was typed.
function parse(name: string, text: string): string {
  try {
    const { databaseUrl } = readStorageConfig({ DATABASE_URL: text || '-' })
    if (databaseUrl === 'sqlite::memory:') throw new Failure(`${name} must be a database that stays.`)
    return databaseUrl
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new Failure(error.message.replace('DATABASE_URL', name), { cause: error })
  }
}

/** A file by its real path, if it is there; a database on a server without the name of anybody. */
function placeOf(databaseUrl: string): string {
  const name = databaseName(databaseUrl)
  if (isPostgresUrl(databaseUrl)) return name
  try {
    return realpathSync(name)
  } catch {
    return name
  }
}

function sameTwice(): Failure {
  return new Failure('FROM and TO are the same database.')
}

function table(copied: readonly Copied[]): string {
  const names = ['table', 'rows', 'added', 'changed', 'deleted'] as const
  const lines = [
    names.map((name) => name.toUpperCase()),
    ...copied.map((each) => names.map((name) => each[name].toLocaleString('en-GB'))),
  ]
  const widths = names.map((_name, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)))
  const cell = (text: string, i: number) =>
    i === 0 ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0)
  return lines.map((line) => line.map(cell).join('  ')).join('\n')
}

function explain(error: unknown): unknown {
  if (error instanceof Failure || error instanceof DatabaseError) return error.message
  // The message of a driver holds statements with their values, a hash among them.
  if (error instanceof DriverException)
    return `One of the databases could not do that: ${errorCode(error)}. Nothing was copied.`
  return error
}
