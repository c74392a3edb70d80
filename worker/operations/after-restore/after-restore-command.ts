import { sql } from 'drizzle-orm';
import { users } from '#db/schema';
import type { Database } from '../../lib/database.ts';
import { runCommand, UsageError } from '../command-line.ts';
import { readCommand, type Target } from '../owner-command.ts';
import { openEnvironment, writeAudit } from '../support/command-audit.ts';
import { adoptCustomers } from './adopt-customers.ts';
import { endSessions, fetchSubscriptions, raiseGenerations } from './end-sessions.ts';
import { repeatEvents } from './repeat-events.ts';
import { markNow, markedAt, type Restore, type RestoreStep } from './restore.ts';
import { stopStatements } from './stop-statements.ts';

/*
 * `npm run after-restore -- --at TIME [--env preview|production] [--dry-run]`: after the database was put back to TIME.
 * Twice is the same as once; a run that was interrupted goes on where it stopped.
 */

const usage = 'npm run after-restore -- --at TIME [--env preview|production] [--dry-run]';
const options = {
  at: { type: 'string' },
  'dry-run': { type: 'boolean' },
} as const;

const steps: RestoreStep[] = [
  endSessions,
  raiseGenerations,
  stopStatements,
  repeatEvents,
  adoptCustomers,
  fetchSubscriptions,
];

const lost = [
  'the counts of messages, and trials that were begun',
  'numbers that came with another id since: their next message says it again',
  'accounts that came since and do not pay: their people write to the assistant, and begin anew',
  'what was written on the web since, and consent that was given since',
  "statements of withdrawal since, whose numbers are given again: look at Stripe's refunds, and at the receipts of the bot and of the mail service",
];

await runCommand(async () => {
  const { target, flags, values } = readCommand('local', { usage, options });
  const at = instantOf(flags['at'] as string | undefined);
  const { settings, db } = openEnvironment(target, values);

  const begun = await markedAt(db, at, 'begun');
  if (begun === null) await checkTime(db, at);

  const isDry = flags['dry-run'] === true;
  const restore = {
    db,
    settings,
    at,
    until: begun ?? Date.now(),
    isDry,
  };

  print(`The database was put back to ${new Date(at).toISOString()}.`);
  if (begun !== null) print(`A run of ${new Date(begun).toISOString()} has begun; it goes on.`);
  return isDry ? runAll(restore) : audited(target, restore);
});

function instantOf(text: string | undefined): number {
  const isIso = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text ?? '');
  const at = isIso ? Date.parse(text!) : Number.NaN;
  if (Number.isNaN(at))
    throw new UsageError('Give the time with its zone: --at 2026-11-20T10:00:00Z.');
  if (at > Date.now())
    throw new UsageError(`${text} is in the future: no database was put back to it.`);
  return at;
}

/** Throws if the database cannot be of that time. */
async function checkTime(db: Database, at: number): Promise<void> {
  const [found] = await db.all<{ first: number | null; newer: number }>(sql`
    select min(${users.createdAt}) as first, count(*) filter (where ${users.createdAt} > ${at}) as newer
    from ${users}`);
  const { first, newer } = found!;
  if (first === null) return print('Nobody had an account then.');
  if (first > at) {
    const day = new Date(first).toISOString();
    throw new Error(
      `Nobody had an account then: the first one here is of ${day}. Nothing was changed.`,
    );
  }
  if (newer > 0)
    print(`${newer} accounts are newer: they came since the restore, or the time is too early.`);
}

async function audited(target: Target, restore: Restore): Promise<boolean> {
  const about = new Date(restore.at).toISOString();
  const entry = {
    env: target,
    command: 'after-restore',
    about,
  };
  writeAudit(entry, 'started');
  try {
    await markNow(restore.db, restore.at, 'begun');
    const isComplete = await runAll(restore);
    writeAudit(entry, isComplete ? 'done' : 'incomplete');
    return isComplete;
  } catch (error) {
    writeAudit(entry, 'failed');
    throw error;
  }
}

async function runAll(restore: Restore): Promise<boolean> {
  const unknown: string[] = [];
  let isComplete = true;
  for (const step of steps) {
    const failure = await runStep(restore, step, unknown);
    if (failure === null) continue;
    isComplete = false;
    unknown.push(`${step.name}: ${failure} Repeat this command when it can be done.`);
  }
  print('', 'What nobody can know any more:', ...[...lost, ...unknown].map((each) => `  ${each}`));
  return isComplete;
}

async function runStep(
  restore: Restore,
  step: RestoreStep,
  unknown: string[],
): Promise<string | null> {
  const { db, at, isDry } = restore;
  const doneAt = await markedAt(db, at, step.name);

  if (doneAt !== null) {
    print(`${step.name}: done on ${new Date(doneAt).toISOString()} already`);
    return null;
  }

  try {
    const report = await step.run(restore);
    print(`${step.name}${isDry ? ' (not done yet)' : ''}:`);
    print(
      ...report.done.map((each) => `  ${each}`),
      ...(report.done.length === 0 ? ['  nothing'] : []),
    );

    unknown.push(...report.unknown);
    if (!isDry) await markNow(db, at, step.name);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function print(...lines: string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}
