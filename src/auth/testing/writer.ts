import Database from 'better-sqlite3'

// Runs in its own process. Each message is a new name for all rows of the given database. Replies after the write.
const database = new Database(process.argv[2])
const update = database.prepare('update people set name = ?')

process.on('message', (name) => {
  update.run(name)
  process.send?.('written')
})
process.send?.('ready')
