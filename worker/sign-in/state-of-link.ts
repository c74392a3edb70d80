import { and, eq, getTableColumns, gt, inArray } from 'drizzle-orm';
import { linkCodes, users } from '#db/schema';
import type { Language } from '../contract/languages.ts';
import { userOfSql } from '../identity/aliases.ts';
import type { PhoneNumber } from '../identity/phone.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { isTrue, minus } from '../lib/expressions.ts';
import { subjectsIn } from '../lib/rate-limits.ts';
import type { Scope } from '../request-scope.ts';
import { limitsOf } from './code-limits.ts';
import { linkCodeLifetimeMs } from './code-secrets.ts';
import type { SignInScope } from './issue-code.ts';
import { sendLinkedCode } from './send-linked-code.ts';

export type LinkState = 'waiting' | 'code_sent' | 'expired';

/**
 * What has happened since the login page showed a link code; `expired` for
 * anybody who does not know the code. `code_sent` tells that the number
 * has written. So a code is sent to the number first: its owner notices. If that code
 * is limited, or a parallel call is sending it, the state is still `waiting`.
 */
export async function stateOfLink(
  scope: SignInScope & Scope<'waitUntil'>,
  phone: PhoneNumber,
  linkCode: string,
): Promise<LinkState> {
  const { db, settings, now } = scope;
  const ids = await keyedHashes(settings.CODE_PEPPER, 'challenge', phone, linkCode);
  const shownAt = minus(linkCodes.expiresAt, linkCodeLifetimeMs);

  const [link] = await db
    .select({
      ...getTableColumns(linkCodes),
      hasWritten: isTrue(gt(users.contactedAt, shownAt)),
    })
    .from(linkCodes)
    .leftJoin(users, eq(users.id, userOfSql('phone', phone)))
    .where(and(inArray(linkCodes.challengeId, ids), gt(linkCodes.expiresAt, now)));

  if (!link) return 'expired';
  if (link.sentBy !== null) return 'code_sent';
  if (!link.hasWritten) return 'waiting';

  const { codesTo, codesFrom, wrongTries } = await limitsOf(scope, phone);
  const counted = subjectsIn([...codesTo, ...codesFrom]);

  const language = link.language as Language;
  const limits = [...codesTo, ...wrongTries];
  const allowed = { limits, counted };
  const outcome = await sendLinkedCode(scope, { ...link, language }, allowed);
  return outcome === 'sent' ? 'code_sent' : 'waiting';
}
