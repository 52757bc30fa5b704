import { join } from 'node:path'
import { readPart } from './src/config/environment.ts'
import { readStorage } from './src/config/storage.ts'
import { databaseOptions } from './src/database/database-options.ts'
import { isPostgresUrl } from './src/database/database-url.ts'
import { loadDialect } from './src/database/open-database.ts'
import { compareBytes } from './src/database/postgres/compare-bytes.ts'
import { schema } from './src/schema.ts'

const { databaseUrl } = readPart(process.env, readStorage)
const { options: connection } = await loadDialect(databaseUrl)
const options = databaseOptions(connection, schema)

/** For MikroORM's command line: `npx mikro-orm migration:create --config mikro-orm.config.ts`. */
export default {
  ...options,
  ...(isPostgresUrl(databaseUrl) && { discovery: { afterDiscovered: compareBytes } }),
  migrations: { ...options.migrations, path: join(import.meta.dirname, 'src/migrations') },
}
