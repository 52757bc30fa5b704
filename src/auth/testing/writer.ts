import Database from 'better-sqlite3'

// Another process: writes what it is sent into the database that it is given, and says when that is done.
const database = new Database(process.argv[2])
const update = database.prepare('update people set name = ?')

process.on('message', (name) => {
  update.run(name)
  process.send?.('written')
})
process.send?.('ready')
