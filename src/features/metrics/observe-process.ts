import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Meter } from '@opentelemetry/api'
import { hashingState } from '../../users/password.ts'

/** Observes the event loop and the queue of password hashes of this process. */
export function observeProcess(meter: Meter): void {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  meter
    .createObservableGauge('nodejs.eventloop.delay.p99', {
      description: 'Delay of the event loop since the last reading',
      unit: 's',
    })
    .addCallback((result) => {
      result.observe(delay.percentile(99) / 1e9)
      delay.reset()
    })
  meter
    .createObservableGauge('koa_authenticators.password_hashes', {
      description: 'Running and waiting hashes',
    })
    .addCallback((result) => {
      const { running, waiting } = hashingState()
      result.observe(running, { state: 'running' })
      result.observe(waiting, { state: 'waiting' })
    })
  meter
    .createObservableCounter('koa_authenticators.password_hashes.refused', {
      description: 'Hashes that were refused with 503, because too many waited',
    })
    .addCallback((result) => result.observe(hashingState().refused))
}
