import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'

// The folders of the site, with each feature as a folder. A file beside `app.ts` is a folder of its own.
const arrows = new Map<string, Set<string>>()
for (const file of globSync('src/**/!(*.test|*.equivalence).ts')) {
  if (file.startsWith('src/testing/')) continue
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(
    /(?:from|import\() ?'(\.[^']+\.ts|#auth)/g,
  )) {
    const [from, to] = [folderOf(file), path === '#auth' ? 'auth' : folderOf(join(dirname(file), path))]
    if (from !== to) arrows.set(from, (arrows.get(from) ?? new Set()).add(to))
  }
}

describe('The folders of src', () => {
  it('import each other, and types of each other, without a cycle', () => {
    const inner = new Map(arrows)
    // Takes away the folders that nothing imports, again and again. Only cycles are left, and what they import.
    for (let outer: string[] = ['']; outer.length > 0; ) {
      const imported = new Set([...inner.values()].flatMap((targets) => [...targets]))
      outer = [...inner.keys()].filter((folder) => !imported.has(folder))
      for (const folder of outer) inner.delete(folder)
    }
    assert.deepEqual([...inner.keys()], [])
  })

  it('have no feature that imports another feature', () => {
    const isFeature = (folder: string) => folder.startsWith('features/')
    const between = [...arrows].flatMap(([from, targets]) =>
      [...targets].filter((to) => isFeature(from) && isFeature(to)).map((to) => `${from} → ${to}`),
    )
    assert.deepEqual(between, [])
  })
})

function folderOf(file: string): string {
  const [, folder = '', name = ''] = file.split('/')
  return folder === 'features' ? `features/${name}` : folder
}
