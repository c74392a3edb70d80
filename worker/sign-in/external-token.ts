import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload } from 'jose';
import { eq } from 'drizzle-orm';
import * as v from 'valibot';
import { usedTokens, users, type User } from '#db/schema';
import { userOfSql } from '../identity/aliases.ts';
import { isContestedSql } from '../identity/contest.ts';
import { upsertUser } from '../identity/user-record.ts';
import { openSignedIn } from '../identity/open-session.ts';
import { type SessionRef } from '../identity/user-session.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { rowExists } from '../lib/expressions.ts';
import { isIn } from '../lib/sql.ts';
import { transaction } from '../lib/transaction.ts';
import { firstWeek } from '../usage/week.ts';
import { memoize } from '../lib/memoize.ts';
import { RequestError } from '../lib/request-error.ts';
import type { Settings } from '../settings.ts';
import { CanonicalPhone, type PhoneNumber } from '../identity/phone.ts';
import type { SessionScope } from '../request-scope.ts';

/** From `iat`: no older `jti` need be stored. */
const externalTokenAgeSeconds = 300;

/** What the issuer's clock may be ahead. */
const aheadSeconds = 60;
const lateSeconds = 5;

const IssuerToken = v.object({
  jti: v.pipe(v.string(), v.nonEmpty(), v.maxLength(512)),
  sub: v.pipe(v.string(), v.nonEmpty()),
  phone_number: CanonicalPhone,
  phone_number_verified: v.literal(true),
});

/** An access token opens no session. */
const acceptedType = /^(application\/)?jwt$/i;

type Issuer = {
  issuer: string;
  audience: string;
  jwksUrl: string;
};

export function externalIssuer(settings: Settings): Issuer | null {
  const issuer = settings.require('EXTERNAL_TOKEN_ISSUER');
  const audience = settings.require('EXTERNAL_TOKEN_AUDIENCE');
  const jwksUrl = settings.require('EXTERNAL_TOKEN_JWKS_URL');
  return issuer && audience && jwksUrl ? { issuer, audience, jwksUrl } : null;
}

/**
 * Signs in with a token of the issuer. Throws 401 for one that is not valid, 503 if the issuer
 * does not respond; both write nothing. Then the first condition that holds decides:
 *
 * | outcome    | condition                      | response | rows                                |
 * | ---------- | ------------------------------ | -------- | ----------------------------------- |
 * | `used`     | the token has signed in before | 401      | none                                |
 * | `signedIn` | it has not                     | session  | `used_tokens`; `sessions`; of a new |
 * |            |                                |          | number `users` and `aliases`        |
 *
 * A session also sets `users.last_seen_at` if that is an hour old; it is limited where the number
 * is contested. Of parallel calls, and after a lost response, the others are `used`.
 */
export async function redeemExternalToken(
  { db, settings, now, device }: SessionScope,
  issuer: Issuer,
  token: string,
): Promise<{ user: User; session: SessionRef }> {
  const { phone, jti } = await verifyExternalToken(issuer, token);
  const ids = await keyedHashes(settings.CODE_PEPPER, 'jti', issuer.issuer, jti);
  const userId = userOfSql('phone', phone);

  const tx = transaction(db, {
    facts: {
      isUsed: rowExists(usedTokens, isIn(usedTokens.id, ids)),
      isContested: isContestedSql(phone),
    },
    outcomes: ({ isUsed }) => ({ used: isUsed }),
    otherwise: 'signedIn',
  });

  const use = {
    id: ids[0]!,
    by: tx.id,
    expiresAt: now + 2000 * externalTokenAgeSeconds,
  };
  tx.insert(['signedIn'], usedTokens, use);

  const sighting = {
    phone,
    proof: 'token' as const,
    whatsappId: null,
    assumedWhatsappId: null,
    contactedAt: null,
    firstWeek: await firstWeek(phone, settings, now),
  };
  upsertUser(tx, ['signedIn'], sighting, { settings, now });

  await openSignedIn(tx, ['signedIn'], { userId, phone, settings, now, device });

  const { outcome, reads } = await tx.run({
    user: db.select().from(users).where(eq(users.id, userId)),
  });

  const [user] = reads.user;
  if (outcome === 'used' || !user) throw new RequestError('invalidToken');
  return { user, session: { userId: user.id, sessionId: tx.id } };
}

/** Throws 401, or 503 without the issuer. */
async function verifyExternalToken(
  issuer: Issuer,
  token: string,
): Promise<{ phone: PhoneNumber; jti: string }> {
  const payload = await verify(issuer, token);
  const read = v.safeParse(IssuerToken, payload);
  if (!read.success) throw new RequestError('invalidToken');
  return { phone: read.output.phone_number, jti: read.output.jti };
}

async function verify({ issuer, audience, jwksUrl }: Issuer, token: string): Promise<JWTPayload> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keySetOf(jwksUrl), {
      algorithms: ['RS256', 'ES256', 'EdDSA'],
      issuer,
      audience,
      requiredClaims: ['sub', 'iat', 'exp', 'jti', 'phone_number', 'phone_number_verified'],
      maxTokenAge: externalTokenAgeSeconds + lateSeconds - aheadSeconds,
      clockTolerance: aheadSeconds,
    });
    if (payload.exp! + lateSeconds <= Date.now() / 1000)
      throw new errors.JWTExpired('expired', payload);
    if (!acceptedType.test(protectedHeader.typ ?? 'JWT'))
      throw new errors.JWTInvalid('unexpected typ');
    return payload;
  } catch (error) {
    throw new RequestError(isTokensFault(error) ? 'invalidToken' : 'unavailable');
  }
}

/** Others are about the issuer. */
function isTokensFault(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError))
    return error instanceof TypeError && !/fetch|network/i.test(error.message);
  return (
    error.code !== errors.JWKSTimeout.code &&
    error.code !== errors.JOSEError.code &&
    error.code !== errors.JWKSInvalid.code
  );
}

const keySetOf = memoize((url: string) =>
  createRemoteJWKSet(new URL(url), {
    timeoutDuration: 2000,
    cooldownDuration: 30_000,
    cacheMaxAge: 600_000,
  }),
);
