import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Places } from './places.ts'

function takeAll(places: Places, limits: Record<string, number>) {
  const taken = Array.from({ length: 10 }, () => places.take(limits))
  return taken.filter((place) => place !== undefined)
}

describe('Places', () => {
  it('gives as many places as the limit of a name, others under another name, and more when some are free', () => {
    const places = new Places()
    const ada = takeAll(places, { ada: 3 })
    assert.deepEqual([ada.length, takeAll(places, { bob: 3 }).length], [3, 3])
    for (const place of ada) place[Symbol.dispose]()
    assert.equal(takeAll(places, { ada: 3 }).length, 3)
  })

  it('takes no place under any name if one of them has none left', () => {
    const places = new Places()
    assert.equal(takeAll(places, { ada: 2, network: 5 }).length, 2)
    assert.equal(takeAll(places, { bob: 10, network: 5 }).length, 3)
  })
})
