import { after, describe, it, type TestContext } from 'node:test'
import type { EventSubscriber, MikroORM } from '@mikro-orm/core'
import type { Strategy } from './application.ts'
import { compareWithFindOne } from './compare-with-find-one.ts'
import { dropDatabases } from './open-database.ts'
import { people, type Variation } from './people.ts'

after(dropDatabases)

/** Compares `LookUp` with `em.findOne` for a variation of the models. */
const compare = (t: TestContext, strategy: Strategy, variation: Variation) =>
  compareWithFindOne(t, strategy, people(variation))

describe('P1 LookUp and em.findOne agree: hooks', () => {
  const mark = ({ entity }: { entity: object }) => void Reflect.set(entity, 'label', 'seen')
  class Marking implements EventSubscriber {
    onLoad = mark
  }
  it('onLoad of the token', (t) => compare(t, 'findOne', { tokenOptions: { hooks: { onLoad: [mark] } } }))
  it('onInit of the user', (t) => compare(t, 'findOne', { userOptions: { hooks: { onInit: [mark] } } }))
  it('beforeUpdate', (t) => compare(t, 'prepared', { tokenOptions: { hooks: { beforeUpdate: [mark] } } }))
  it('subscriber of the configuration', (t) =>
    compare(t, 'findOne', { options: { subscribers: [new Marking()] } }))
  it('subscriber to the user after the first look-up', (t) =>
    compare(t, 'findOne', { later: (orm) => subscribe(orm, 'User') }))
})

/** Adds a subscriber that is called when an entity of this class is loaded. */
function subscribe({ em }: MikroORM, name: string): void {
  const metas = [...em.getMetadata().getAll().values()]
  const classes = metas.filter((meta) => meta.className === name).map((meta) => meta.class as never)
  em.getEventManager().registerSubscriber({
    getSubscribedEntities: () => classes,
    onLoad: ({ entity }) => void Reflect.set(entity, 'name', 'seen'),
  })
}
