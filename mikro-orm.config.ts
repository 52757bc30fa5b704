import { readStorageConfig } from './src/config.ts'
import { databaseOptions } from './src/database/options.ts'

/** For MikroORM's command line: `npx mikro-orm debug`, `npx mikro-orm migration:create`. */
export default await databaseOptions(readStorageConfig().databaseUrl)
