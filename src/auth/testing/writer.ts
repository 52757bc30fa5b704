import Database from 'better-sqlite3'

// Another process: updates the given database with each message, and replies after the write.
const database = new Database(process.argv[2])
const update = database.prepare('update people set name = ?')

process.on('message', (name) => {
  update.run(name)
  process.send?.('written')
})
process.send?.('ready')
