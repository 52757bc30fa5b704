import { join } from 'node:path'

/** The folder of the site, where its templates and public files are. */
export const root = join(import.meta.dirname, '../..')
