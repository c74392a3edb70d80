import { and, eq, lte, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import {
  codes,
  customers,
  linkCodes,
  phoneChanges,
  pushSubscriptions,
  sessions,
  trialLinks,
  users,
} from '#db/schema';
import { clearingsPerRestore } from '../../live/epoch.ts';
import { linkCodeLifetimeMs } from '../../sign-in/code-secrets.ts';
import { trialLinkLifetimeMs } from '../../trials/trials.ts';
import {
  countOf,
  counted,
  inBatches,
  report,
  type Report,
  type Restore,
  type RestoreStep,
} from './restore.ts';

/** Each may have been ended, or used, since. */
export const endSessions: RestoreStep = {
  name: 'sessions',
  async run(restore) {
    const { db, settings, until } = restore;
    const madeFor = (column: SQLiteColumn, lifetimeMs: number) => lte(column, until + lifetimeMs);
    const isOpen = and(
      eq(trialLinks.isUsed, false),
      madeFor(trialLinks.expiresAt, trialLinkLifetimeMs),
    )!;
    const codeMs = settings.require('CODE_LIFETIME_SECONDS') * 1000;
    const all = [
      { table: sql`${sessions}`, where: sql`${sessions.createdAt} <= ${until}` },
      { table: sql`${pushSubscriptions}`, where: sql`${pushSubscriptions.createdAt} <= ${until}` },
      { table: sql`${trialLinks}`, where: isOpen },
      { table: sql`${codes}`, where: sql`${codes.sentAt} <= ${until}` },
      { table: sql`${linkCodes}`, where: madeFor(linkCodes.expiresAt, linkCodeLifetimeMs) },
      { table: sql`${phoneChanges}`, where: madeFor(phoneChanges.expiresAt, codeMs) },
    ];
    const [ended, browsers, links] = await Promise.all(
      all.slice(0, 3).map(({ table, where }) => countOf(db, table, where)),
    );
    if (!restore.isDry)
      for (const each of all)
        await inBatches(db, (rows) => sql`delete from ${each.table} where ${rows}`, each);
    return report(
      `${counted(ended!, 'session', 'sessions')} and ${counted(browsers!, 'browser', 'browsers')} with notices: ended`,
      `${counted(links!, 'trial link', 'trial links')} that may have been used since: ended; who has not used theirs asks for another`,
    );
  },
};

export const raiseGenerations: RestoreStep = {
  name: 'conversations',
  async run({ db, at, until, isDry }) {
    const generation = generationOf(at);
    const isOlder = sql`${users.createdAt} <= ${until} and chat_epoch < ${generation}`;
    const of = { table: sql`${users}`, where: isOlder };
    const people = await countOf(db, of.table, of.where);
    if (!isDry)
      await inBatches(
        db,
        (rows) => sql`update ${users} set
          chat_epoch = ${generation} + chat_epoch % ${clearingsPerRestore} where ${rows}`,
        of,
      );
    return report(
      `${counted(people, 'conversation', 'conversations')}: what was written since is not read any more`,
    );
  },
};

export const generationOf = (at: number) => Math.floor(at / 1000) * clearingsPerRestore;

export const fetchSubscriptions: RestoreStep = {
  name: 'subscriptions',
  async run({ db, isDry }: Restore): Promise<Report> {
    const isKnown = sql`${customers.stripeId} is not null and coalesce(${customers.dueAt}, 1) between 1
      and ${Number.MAX_SAFE_INTEGER - 1}`;
    const of = { table: sql`${customers}`, where: isKnown };
    const known = await countOf(db, of.table, of.where);
    if (!isDry)
      await inBatches(db, (rows) => sql`update ${customers} set due_at = 0 where ${rows}`, of);
    return report(
      `${counted(known, 'customer', 'customers')}: the cron job fetches their plans from Stripe`,
    );
  },
};
