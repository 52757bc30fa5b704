import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'

const rounds = 100
const threads = 4

// Reads the secret of each folder at the same moment as the other threads.
const program = `
  import { workerData, parentPort } from 'node:worker_threads'
  const { readDevelopmentSecret } = await import(workerData.module)
  const { arrived, isOpen, folder } = workerData
  const secrets = []
  for (let round = 0; round < ${rounds}; round += 1) {
    if (Atomics.add(arrived, round, 1) === ${threads - 1}) {
      Atomics.store(isOpen, round, 1)
      Atomics.notify(isOpen, round)
    } else Atomics.wait(isOpen, round, 0)
    secrets.push(readDevelopmentSecret(folder + '/' + round, 'jwt-secret').toString())
  }
  parentPort.postMessage(secrets)`

describe('readDevelopmentSecret', () => {
  it('returns the same whole secret to processes that start at the same time', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'koa-authenticators-'))
    t.after(() => rm(folder, { recursive: true }))
    const [arrived, isOpen] = [0, 0].map(() => new Int32Array(new SharedArrayBuffer(4 * rounds)))
    const module = import.meta.resolve('./development-keys.ts')
    const workers = Array.from(
      { length: threads },
      () =>
        new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), {
          workerData: { module, arrived, isOpen, folder },
        }),
    )
    t.after(async () => {
      for (const worker of workers) await worker.terminate()
    })
    const [[first = []] = [], ...others] = await Promise.all(workers.map((worker) => once(worker, 'message')))
    assert.equal(first.length, rounds)
    for (const [secrets] of others) assert.deepEqual(secrets, first)
    assert.deepEqual(await readdir(join(folder, '0')), ['jwt-secret'])
  })
})
