import { gt, gte, isNotNull, isNull, eq, not, or } from 'drizzle-orm';
import { claims, linkCodes } from '#db/schema';
import { botTransaction } from '../bot/bot-transaction.ts';
import { userOfSql } from '../identity/aliases.ts';
import { allowedAtSql } from '../lib/rate-limits.ts';
import { rateLimited, RequestError } from '../lib/request-error.ts';
import { dayMs } from '../lib/time.ts';
import type { Transaction } from '../lib/transaction.ts';
import type { Settings } from '../settings.ts';
import {
  markCodeSent,
  claimSubjects,
  undoClaim,
  waitForSender,
  type ClaimScope,
} from './claim-state.ts';
import { claimRow } from './claims.ts';
import { untilNextBudget } from './code-budget.ts';
import { newCode } from './code-secrets.ts';
import { markLinkUsed, linksOf, type Link } from './link-codes.ts';
import { linkFacts, sendCodeOf, type Sending } from './send-linked-code.ts';
import { codeRow, orUndone, type CodeRow } from './stored-codes.ts';

const claimLimits = [{ most: 3, per: dayMs }];

/**
 * Claims the number of a link code for the id that sent it, and sends the code of the number.
 * The states of a claim: `claim-state.ts`. The first condition that holds decides:
 *
 * | outcome            | condition                                         | response | rows      |
 * | ------------------ | ------------------------------------------------- | -------- | --------- |
 * | `codeSent`, `ofId` | this call again: its code was sent, or its id has | 200      | none      |
 * |                    | a user since                                      |          |           |
 * | `refused`          | the link is unknown, used or expired, the user of | 400      | none      |
 * |                    | its number has written, or the id has a user      |          |           |
 * | `limited`          | the id has claimed three times in a day, or a     | 429      | none      |
 * |                    | limit of the number holds                         |          |           |
 * | `budgetSpent`      | the codes of today reach their budget             | 503      | none      |
 * | `claimed`          | none of these                                     | 200, 503 | see below |
 *
 * `claimed` writes `bot_calls`; `claims` (a proven one of the id stays instead); `link_codes`
 * (used, and kept at least as long as the code); the code, twice in `codes`; the day in
 * `daily_codes`; `rate_limit_events`, one of the id and two of the number. After the response it
 * writes `code_messages`, and `codeSent` into `bot_calls`.
 *
 * If WhatsApp does not take the code, or the response of the database is lost, `undoClaim` takes
 * these rows back, opens the link again, and the call fails with 503 (`codes_unavailable` if our
 * account at WhatsApp is blocked). What they replaced stays replaced: the code before, and an
 * unproven claim of the id. If the message may arrive, the event for the hard limit of the number
 * stays, but the code is deleted: one that still arrives opens nothing. If a status has proven the
 * claim before, all rows stay, and this call again is `codeSent`. If a status says later that the
 * message failed, its code ends and no longer counts (`code-delivery.ts`); the link stays used.
 *
 * Another call with the same link is `refused`, unless the claim was undone. This call again
 * waits for the first (`resumeClaim`).
 */
export async function claimNumber(
  scope: ClaimScope,
  businessUserId: string,
  link: Link | undefined,
): Promise<void> {
  if (!link) throw refusedLinkCode();

  const { settings, now } = scope;
  const { phone } = link;
  const subjects = await claimSubjects(settings, businessUserId, phone);

  const tx = await decideClaim(scope, { businessUserId, link, subjects });

  const counted = [subjects.claimsOf, subjects.everyCodeTo, subjects.codesTo];
  const sentBy = tx.id;
  const code = newCode();
  const row = await codeRow(settings, { phone, code, sentBy, now });
  const claim = await storeClaim(settings, tx, { businessUserId, row });
  markLinkUsed(tx, ['claimed'], { link, row, claimedBy: claim.mac, counted });

  const sentClaim = { businessUserId, link, sentBy, at: now };
  const undo: Sending['undo'] = (fate) => undoClaim(scope, sentClaim, fate);
  const applied = await orUndone(scope, tx.apply(), () => undo('unsent'));
  const { outcome, facts, isFirst } = applied;

  switch (outcome) {
    case 'codeSent':
    // `recordContact` has stored this call since.
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
      await sendCodeOf(scope, link, {
        message,
        codesToday: facts.codesToday,
        undo,
      });
      scope.waitUntil(markCodeSent(scope, sentBy));
    }
  }
}

type DecideClaimOptions = {
  businessUserId: string;
  link: Link;
  subjects: Awaited<ReturnType<typeof claimSubjects>>;
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

    outcomes: ({ isOpen, writerOfNumber, holder, allowedAt: at, codesToday }) => ({
      refused: or(not(isOpen), isNotNull(writerOfNumber), isNotNull(holder)),
      limited: gt(at, now),
      budgetSpent: gte(codesToday, settings.require('CODE_BUDGET_PER_DAY')),
    }),
    otherwise: 'claimed',
    unstored: ['refused', 'limited', 'budgetSpent'],
    others: ['codeSent', 'ofId'],
  });
}

type Claiming = { businessUserId: string; row: CodeRow };

/** A newer claim of an id replaces one that is not proven; `claimedBy` of its link is its `mac`. */
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
 * This call again: waits, up to 10 s, while the first may be sending. If its code was sent, or the
 * link is gone (its code has signed in, or its time is over), it returns. If the claim was taken
 * back before this call began, it throws 503, and the next one claims. Else the link is opened now
 * if it is not, and this call claims the number.
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
    case 'undone':
      if (!link) throw new RequestError('unavailable', { retryAfter: 1 });
      return claimNumber(scope, businessUserId, link);
    case 'claimed': {
      // Its code has signed in, or its time is over: both delete the link.
      if (!link) return;

      const sentClaim = { businessUserId, link, sentBy, at: sender.at };
      const outcome = await undoClaim(scope, sentClaim, 'mayArrive');
      if (outcome !== 'sent') await claimNumber(scope, businessUserId, link);
    }
  }
}

function refusedLinkCode(): RequestError {
  const message = 'linkCode is wrong, used or expired';
  return new RequestError('invalidField', {
    message,
    issues: [{ path: 'linkCode', message }],
  });
}
