import { type EntityManager, WrappedEntity } from '@mikro-orm/core'

const Wrapper = WrappedEntity as unknown as new (...parts: readonly unknown[]) => object

/** MikroORM's wrapper, for entities of look-ups. Forks the entity manager on demand, for example to load a lazy column. */
export class LoadedWrapper extends Wrapper {
  declare source: { readonly config: object; manager(): EntityManager }
  get __em(): EntityManager {
    return this.source.manager()
  }
  set __em(value: EntityManager) {
    Object.defineProperty(this, '__em', { value, writable: true })
  }
  get __config(): object {
    return this.source.config
  }
}
