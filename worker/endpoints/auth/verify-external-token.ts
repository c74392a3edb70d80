import { and, eq, sql } from 'drizzle-orm';
import { sessions, usedTokens, users } from '#db/schema';
import {
  externalIssuer,
  externalTokenAgeSeconds,
  verifyExternalToken as verify,
} from '../../sign-in/external-token.ts';
import { keyedHash } from '../../lib/keyed-hash.ts';
import { openSession } from '../../accounts/open-session.ts';
import { sessionToken } from '../../sign-in/session-token.ts';
import type { Handler } from '../../http/handler.ts';
import { RequestError } from '../../lib/request-error.ts';
import { upsertUser } from '../../accounts/upsert-user.ts';
import { profileOf } from '../../usage/profile.ts';

export const verifyExternalToken: Handler<'verifyExternalToken'> = async ({ input, db, settings, now }) => {
  const issuer = externalIssuer(settings);
  if (!issuer) throw new RequestError('notFound');
  const { phone, jti } = await verify(issuer, input.token);
  const tokenId = await keyedHash(issuer.issuer, 'jti', jti);
  const id = crypto.randomUUID();
  const use = { id: tokenId, by: id, expiresAt: now + 2000 * externalTokenAgeSeconds };
  const used = sql`exists (select 1 from ${usedTokens} where ${and(eq(usedTokens.id, tokenId), eq(usedTokens.by, id))})`;
  const sighting = { phone, whatsappId: null, assumedWhatsappId: null, contactedAt: null };
  const upsert = upsertUser(sighting, settings, now);
  const [create, seen] = openSession(id, now, sql`from ${users} where ${users.phone} = ${phone} and ${used}`);
  const [, , , , [found]] = await db.batch([
    db.insert(usedTokens).values(use).onConflictDoNothing(),
    db.run(upsert(used)),
    db.run(create),
    db.run(seen),
    db
      .select({ user: users })
      .from(users)
      .innerJoin(sessions, eq(sessions.userId, users.id))
      .where(eq(sessions.id, id)),
  ]);
  if (!found) throw new RequestError('invalidToken');
  const token = await sessionToken(settings, { userId: found.user.id, sessionId: id }, now);
  return { success: true, token, user: profileOf(found.user, now), status: found.user.status };
};
