/** The size of SQLite's page cache in KiB, for each process. Memory is taken as pages are read. */
export const pageCacheSize = 65_536
