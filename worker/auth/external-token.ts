import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload } from 'jose';
import * as v from 'valibot';
import { Phone } from '../contract/shapes.ts';
import { Problem } from '../problem.ts';
import type { Settings } from '../settings.ts';

/** A token may be this old, counted from `iat`; after that it is refused, so its `jti` may be forgotten. */
export const externalTokenAgeSeconds = 300;

const Claims = v.object({
  jti: v.pipe(v.string(), v.nonEmpty(), v.maxLength(512)),
  sub: v.pipe(v.string(), v.nonEmpty()),
  phone_number: Phone,
  phone_number_verified: v.literal(true),
});

type KeySet = ReturnType<typeof createRemoteJWKSet>;
const keySets = new Map<string, KeySet>();

/** The phone and the id of a token of the external issuer; 401 for a bad one, 503 when the issuer does not answer. */
export async function verifyExternalToken(settings: Settings, token: string): Promise<{ phone: string; jti: string }> {
  const payload = await verify(settings, token);
  const claims = v.safeParse(Claims, payload);
  if (!claims.success) throw new Problem('invalidToken');
  return { phone: claims.output.phone_number, jti: claims.output.jti };
}

async function verify(settings: Settings, token: string): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, keySetOf(settings.EXTERNAL_TOKEN_JWKS_URL), {
      algorithms: ['RS256', 'ES256', 'EdDSA'],
      issuer: settings.EXTERNAL_TOKEN_ISSUER,
      audience: settings.EXTERNAL_TOKEN_AUDIENCE,
      typ: 'JWT',
      requiredClaims: ['sub', 'iat', 'exp', 'jti', 'phone_number', 'phone_number_verified'],
      maxTokenAge: externalTokenAgeSeconds,
      clockTolerance: 5,
    });
    return payload;
  } catch (error) {
    throw new Problem(isTokensFault(error) ? 'invalidToken' : 'unavailable');
  }
}

/** What jose says of the token itself; the rest (no answer, no key set) is the issuer's. */
function isTokensFault(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return error instanceof TypeError && !/fetch|network/i.test(error.message);
  return (
    error.code !== errors.JWKSTimeout.code &&
    error.code !== errors.JOSEError.code &&
    error.code !== errors.JWKSInvalid.code
  );
}

function keySetOf(url: string): KeySet {
  let keySet = keySets.get(url);
  if (!keySet) {
    const options = { timeoutDuration: 2000, cooldownDuration: 30_000, cacheMaxAge: 600_000 };
    keySet = createRemoteJWKSet(new URL(url), options);
    keySets.set(url, keySet);
  }
  return keySet;
}
