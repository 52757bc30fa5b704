// What bcrypt reaches by itself, with its usual pool of threads: `node bcrypt-alone.ts <seconds>` prints hashes a second.
import bcrypt from 'bcrypt'
import { bcryptCost, password } from './data.ts'

const seconds = Number(process.argv[2])
const hash = await bcrypt.hash(password, bcryptCost)
const begin = performance.now()
const end = begin + seconds * 1000
let done = 0
let last = begin

async function work(): Promise<void> {
  while (performance.now() < end) {
    await bcrypt.compare(password, hash)
    done += 1
    last = performance.now()
  }
}

await Promise.all([work(), work(), work(), work()])
console.log((done / (last - begin)) * 1000)
