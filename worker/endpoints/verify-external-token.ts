import { eq, sql } from 'drizzle-orm';
import { sessions, users } from '#db/schema';
import { canonicalPhone } from '../auth/canonical-phone.ts';
import { externalTokenAgeSeconds, verifyExternalToken as verify } from '../auth/external-token.ts';
import { keyedHash } from '../auth/keyed-hash.ts';
import { openSession, sessionToken } from '../auth/session.ts';
import type { Handler } from '../http/call.ts';
import { Problem } from '../problem.ts';
import { meetUser } from '../usage/meet-user.ts';
import { profileOf } from '../usage/profile.ts';

export const verifyExternalToken: Handler<'verifyExternalToken'> = async ({ input, db, settings, now }) => {
  const claims = await verify(settings, input.token);
  const phone = canonicalPhone(claims.phone);
  const tokenId = await keyedHash(settings.EXTERNAL_TOKEN_ISSUER, 'jti', claims.jti);
  const id = crypto.randomUUID();
  const burnt = sql`exists (select 1 from burnt_tokens where id = ${tokenId} and by = ${id})`;
  const meet = meetUser({ phone, whatsappId: null, contactedAt: null }, settings, now);
  const [, , , [found]] = await db.batch([
    db.run(sql`insert into burnt_tokens (id, by, expires_at)
      values (${tokenId}, ${id}, ${now + 2000 * externalTokenAgeSeconds}) on conflict do nothing`),
    db.run(meet(burnt)),
    db.run(openSession(id, now, sql`from users u where u.phone = ${phone} and ${burnt}`)),
    db
      .select({ user: users })
      .from(users)
      .innerJoin(sessions, eq(sessions.userId, users.id))
      .where(eq(sessions.id, id)),
  ]);
  if (!found) throw new Problem('invalidToken');
  const token = await sessionToken(settings, { userId: found.user.id, sessionId: id }, now);
  return { success: true, token, user: profileOf(found.user, now), status: found.user.status };
};
