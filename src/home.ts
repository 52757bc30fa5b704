import { join } from 'node:path'

/** The folder of the site, where its templates and public files are. In a bundle it is as it was when that was made. */
export const home = join(import.meta.dirname, '..')
