import { ExtractJwt, Strategy } from 'passport-jwt'
import { algorithm, issuer, jwtKey } from './environment.ts'

/** passport-jwt, which verifies by jsonwebtoken. It knows no EdDSA. */
export function jwtStrategy(): Strategy {
  return new Strategy(
    {
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      // jsonwebtoken would make one of a text for each token; only the types do not know that it may be one.
      secretOrKey: jwtKey as never,
      algorithms: [algorithm as 'HS256' | 'ES256'],
      issuer,
      audience: issuer,
    },
    (payload, done) => done(null, typeof payload.userId === 'string' ? payload : false),
  )
}
