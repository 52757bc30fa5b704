import { pathToFileURL } from 'node:url'
import { bundled } from './bundle/bundle.ts'
import { makeBundle } from './bundle/make-bundle.ts'

// Makes ready what a server starts faster with. `npm ci` runs it, and whoever may write nothing later (`docs/deploy.md`).

await makeBundle()
const rehearsal = bundled('rehearsal')
if (rehearsal === undefined) throw new Error('A file was changed while it was bundled.')
await import(pathToFileURL(rehearsal).href)
