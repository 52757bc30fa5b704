import { urlOf } from './bundle/bundle.ts'
import { makeBundle } from './bundle/make-bundle.ts'

// Makes ready what a server starts faster with. `npm ci` runs it, and whoever may write nothing later (`docs/deploy.md`).

await makeBundle()
await import(urlOf('rehearsal'))
