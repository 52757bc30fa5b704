export { prepared } from './prepared.ts'
