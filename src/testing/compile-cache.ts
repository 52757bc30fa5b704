import { enableCompileCache } from 'node:module'

// Each file of tests is a program of its own, and all of them load the same: it is compiled once.
enableCompileCache('node_modules/.cache/tests')
