import type { Attributes } from '@opentelemetry/api'
import type { Context } from 'koa'
import { routeOf } from '../../site/request-log.ts'

/** The attributes of a request by OpenTelemetry's conventions for HTTP servers. */
export function requestAttributes(ctx: Context): Attributes {
  return {
    'http.request.method': ctx.method,
    'http.response.status_code': ctx.status,
    'http.route': routeOf(ctx),
    'url.scheme': ctx.isOverTls ? 'https' : 'http',
  }
}
