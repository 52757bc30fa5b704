import { enableCompileCache } from 'node:module'

// Each test file runs in a separate process. The cache saves compiling the same modules again.
enableCompileCache('node_modules/.cache/tests')
