import { ExtractJwt, Strategy } from 'passport-jwt'
import { algorithm, issuer, jwtKeyText } from './environment.ts'

/** passport-jwt, which verifies by jsonwebtoken. It knows no EdDSA. */
export function jwtStrategy(): Strategy {
  return new Strategy(
    {
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      secretOrKey: jwtKeyText,
      algorithms: [algorithm as 'HS256' | 'ES256'],
      issuer,
      audience: issuer,
    },
    (payload, done) => done(null, typeof payload.userId === 'string' ? payload : false),
  )
}
