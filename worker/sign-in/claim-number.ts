import { gt, gte, isNotNull, isNull, eq, not, or } from 'drizzle-orm';
import { claims, linkCodes } from '#db/schema';
import { botTransaction } from '../bot/bot-transaction.ts';
import { userOfSql } from '../identity/aliases.ts';
import { allowedAtSql } from '../lib/rate-limits.ts';
import { rateLimited, RequestError } from '../lib/request-error.ts';
import { dayMs } from '../lib/time.ts';
import type { Transaction } from '../lib/transaction.ts';
import type { Settings } from '../settings.ts';
import { noteSent, subjectsOf, undoClaim, waitForSender, type ClaimScope } from './claim-state.ts';
import { claimRow } from './claims.ts';
import { untilNextBudget } from './code-budget.ts';
import { newCode } from './code-secrets.ts';
import { closeLink, linksOf, type Link } from './link-codes.ts';
import { linkFacts, sendCodeOf, type Sending } from './send-linked-code.ts';
import { codeRow, orUndone, type CodeRow } from './stored-codes.ts';

const claimLimits = [{ most: 3, per: dayMs }];

/** After 503 the link stays good. */
export async function claimNumber(
  scope: ClaimScope,
  businessUserId: string,
  link: Link | undefined,
): Promise<void> {
  if (!link) throw refusedLinkCode();

  const { settings, now } = scope;
  const { phone } = link;
  const subjects = await subjectsOf(settings, businessUserId, phone);

  const tx = await decideClaim(scope, { businessUserId, link, subjects });

  const counted = [subjects.claimsOf, subjects.everyCodeTo, subjects.codesTo];
  const sentBy = tx.id;
  const code = newCode();
  const row = await codeRow(settings, { phone, code, sentBy, now });
  const claim = await storeClaim(settings, tx, { businessUserId, row });
  closeLink(tx, ['claimed'], { link, row, claimedBy: claim.mac, counted });

  const sentClaim = { businessUserId, link, sentBy, at: now };
  const undo: Sending['undo'] = (fate) => undoClaim(scope, sentClaim, fate);
  const applied = await orUndone(scope, tx.apply(), () => undo('unsent'));
  const { outcome, facts, isFirst } = applied;

  switch (outcome) {
    case 'codeSent':
    // By now the id has a user.
    case 'ofId':
      return;
    case 'refused':
      throw refusedLinkCode();
    case 'limited':
      throw rateLimited(facts.allowedAt, now);
    case 'budgetSpent':
      throw new RequestError('unavailable', { retryAfter: untilNextBudget(now) });
    case 'claimed': {
      if (!isFirst) return resumeClaim(scope, businessUserId, applied.by);

      const message = { code, sentBy, counted };
      await sendCodeOf(scope, link, { message, codesToday: facts.codesToday, undo });
      scope.waitUntil(noteSent(scope, sentBy));
    }
  }
}

type DecideClaimOptions = {
  businessUserId: string;
  link: Link;
  subjects: Awaited<ReturnType<typeof subjectsOf>>;
};

function decideClaim(scope: ClaimScope, { businessUserId, link, subjects }: DecideClaimOptions) {
  const { settings, now } = scope;
  const limits = {
    everyCodeTo: settings.require('LIMIT_CODES_PER_NUMBER_HARD'),
    codesTo: settings.require('LIMIT_CODES_PER_NUMBER'),
    wrongTriesAt: settings.require('LIMIT_WRONG_TRIES_PER_NUMBER'),
  };

  return botTransaction(scope, {
    facts: {
      ...linkFacts(link, now),
      holder: userOfSql('business', businessUserId),
      allowedAt: allowedAtSql([
        { subject: subjects.claimsOf, limits: claimLimits },
        { subject: subjects.everyCodeTo, limits: limits.everyCodeTo },
        { subject: subjects.codesTo, limits: limits.codesTo },
        { subject: subjects.wrongTriesAt, limits: limits.wrongTriesAt },
      ]),
    },

    outcomes: ({ isOpen, writer, holder, allowedAt: at, codesToday }) => ({
      refused: or(not(isOpen), isNotNull(writer), isNotNull(holder)),
      limited: gt(at, now),
      budgetSpent: gte(codesToday, settings.require('CODE_BUDGET_PER_DAY')),
    }),
    otherwise: 'claimed',
    forgotten: ['refused', 'limited', 'budgetSpent'],
    others: ['codeSent', 'ofId'],
  });
}

type Claiming = { businessUserId: string; row: CodeRow };

/** A newer claim of an id replaces one that is not proven. */
async function storeClaim<Outcome extends string>(
  settings: Settings,
  tx: Transaction<Outcome | 'claimed', unknown>,
  { businessUserId, row }: Claiming,
) {
  const { phone, mac: codeMac, expiresAt } = row;
  const claim = await claimRow(settings, {
    businessUserId,
    phone,
    sentBy: tx.id,
    codeMac,
    expiresAt,
  });

  const { mac: _, ...newest } = claim;
  const upsert = {
    target: [claims.mac],
    set: newest,
    where: isNull(claims.provenAt),
  };
  tx.insert(['claimed'], claims, claim, { upsert });
  return claim;
}

/**
 * This call again: waits while the first may be sending. If its code was not sent, the link
 * is open again, and this call claims the number itself.
 */
export async function resumeClaim(
  scope: ClaimScope,
  businessUserId: string,
  sentBy: string,
): Promise<void> {
  const [link] = await linksOf(scope.db, eq(linkCodes.sentBy, sentBy));
  const sender = await waitForSender(scope, sentBy);

  switch (sender.state) {
    case 'codeSent':
      return;
    case 'takenBack':
      if (!link) throw new RequestError('unavailable', { retryAfter: 1 });
      return claimNumber(scope, businessUserId, link);
    case 'claimed': {
      // Its code has signed in, which deletes the link.
      if (!link) return;

      const sentClaim = { businessUserId, link, sentBy, at: sender.at };
      const outcome = await undoClaim(scope, sentClaim, 'mayArrive');
      if (outcome !== 'sent') await claimNumber(scope, businessUserId, link);
    }
  }
}

function refusedLinkCode(): RequestError {
  const message = 'linkCode is wrong, used or expired';
  return new RequestError('invalidField', { message, issues: [{ path: 'linkCode', message }] });
}
