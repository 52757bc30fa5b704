import { enableCompileCache } from 'node:module'

// Several test processes load the same modules. The cache saves compiling them again.
enableCompileCache('node_modules/.cache/tests')
