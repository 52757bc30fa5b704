import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cutVariable } from './env-file.ts'

describe('cutVariable', () => {
  it('finds a variable whose value ends at an unquoted #', () => {
    for (const line of [
      'SECRET=pass#word',
      '  export SECRET = pass#word # a comment',
      'SECRET=#1\nSECRET=x#',
    ])
      assert.equal(cutVariable(`PORT=3000\n${line}\n`), 'SECRET', line)
  })

  it('accepts comments, quoted values, and lines of quoted values', () => {
    const lines = [
      '# SECRET=pass#word',
      'PORT=3000 # or another',
      'SECRET="pass#word"',
      "COLOR='#0055ff' # blue",
      'EMPTY=#0055ff',
      'KEY="-----\nLINE=a#b\n-----"',
    ]
    assert.equal(cutVariable(lines.join('\n')), undefined)
  })
})
