import { UsageError } from '../command-line.ts';
import {
  requireTargetSettings,
  settingsAreWrong,
  type Target,
  type Values,
} from '../owner-command.ts';
import { essential, type Settings, settingsOf } from '../../settings.ts';
import { type Database, openDatabase } from '../../lib/database.ts';
import { eq } from 'drizzle-orm';
import * as v from 'valibot';
import { users, type User } from '#db/schema';
import { userOfSql } from '../../identity/aliases.ts';
import { CanonicalPhone, readPastedPhone, type PhoneNumber } from '../../identity/phone.ts';
import { phoneTag } from '../../lib/log.ts';
import { minuteMs } from '../../lib/time.ts';
import { appendFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';

type Call = {
  name: string;
  command: SupportCommand;
  target: Target;
  values: Values;
  words: string[];
  flags: SupportFlags;
  json: boolean;
  yes: boolean;
};

type Asked = Pick<Call, 'words' | 'flags' | 'yes'>;

export async function runSupport(call: Call): Promise<boolean> {
  const print = (result: Result) =>
    process.stdout.write(`${call.json ? asJson(result.data) : result.text}\n`);
  try {
    const result = await audited(call);
    print(result);
    return result.complete !== false;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (call.json) process.stdout.write(`${asJson({ success: false, message })}\n`);
    throw error;
  }
}

async function audited({ name, command, target, ...call }: Call): Promise<Result> {
  const entry = {
    env: target,
    command: name,
    about: nobody,
  };
  let outcome: AuditOutcome = 'refused';
  try {
    const { words, flags, values } = call;
    requireKnown(command, call);
    const request = { words, flags, ...openEnvironment(target, values) };
    entry.about = await tagOf(request);
    const action = await command.run(request);
    entry.about = action.about;
    requireYes(action, call.yes);

    writeAudit(entry, 'started');
    outcome = 'failed';
    const result = await action.perform();
    outcome = result.complete === false ? 'incomplete' : 'done';
    return result;
  } finally {
    writeAudit(entry, outcome);
  }
}

/** `usage` names the words and options of a command. */
function requireKnown({ usage }: SupportCommand, { words, flags, yes }: Asked): void {
  const [, ...places] = usage.replaceAll(/ --\w+(?: [A-Z])?/g, '').split(' ');
  const given = Object.keys({ ...flags, ...(yes && { yes }) });
  const unknown = given.find((flag) => !usage.includes(`--${flag}`));
  const surplus = words[places.length];
  if (unknown || surplus)
    throw new UsageError(
      `There is no place for "${surplus ?? `--${unknown}`}" here: write \`npm run support -- ${usage}\`.`,
    );
}

const nobody = 'nobody';

async function tagOf({ words, settings }: SupportRequest): Promise<string> {
  const phones = await Promise.all(words.map((word) => phoneOf(word).catch(() => null)));
  const [pepper] = settings.CODE_PEPPER;
  const tags = phones.flatMap((phone) => (phone ? [phoneTag(pepper!, phone)] : []));
  return (await Promise.all(tags)).join(' ') || nobody;
}

function requireYes({ needsYes, would }: Action, yes: boolean): void {
  if (needsYes && !yes)
    throw new UsageError(`This would ${would}. Repeat the command with --yes to do it.`);
}

export type SupportFlags = { tier?: string; days?: string };
export type SupportRequest = {
  words: string[];
  flags: SupportFlags;
  db: Database;
  settings: Settings;
};

/** `complete` is false if a part failed: exit code 1. */
export type Result = {
  data: unknown;
  text: string;
  complete?: boolean;
};

export type Action = {
  /** Follows "This would ". */
  would: string;
  /** A number's tag, or ids of events. */
  about: string;
  needsYes: boolean;
  perform: () => Promise<Result>;
};

export type SupportCommand = {
  usage: string;
  about: string;
  run: (request: SupportRequest) => Promise<Action>;
};

export function openEnvironment(
  target: Target,
  values: Values,
): { db: Database; settings: Settings } {
  // Otherwise the log says it first, in JSON.
  requireTargetSettings(target, values, essential);
  const settings = settingsOf(values);
  if (!settings) throw settingsAreWrong(target, 'weak or repeated secrets');
  return {
    settings,
    db: openDatabase(settings, { requests: 0, unreachable: false }),
  };
}

export async function phoneOf(word = '', orElse = ''): Promise<PhoneNumber> {
  const phone = v.safeParse(CanonicalPhone, await readPastedPhone(word));
  if (!phone.success)
    throw new UsageError(`Give a number with its country code, such as +15551234567${orElse}.`);
  return phone.output;
}

export async function findUser(db: Database, word: string | undefined): Promise<User> {
  const [user] = await db
    .select()
    .from(users)
    .where(eq(users.id, userOfSql('phone', await phoneOf(word))));
  if (!user) throw new Error('Nobody has this number.');
  return user;
}

const timeoutMs = minuteMs;

export class CallRefused extends Error {}

/** Throws a `CallRefused` if nothing was changed (4xx). */
export async function callApi<T>(
  { SITE_URL }: Settings,
  path: string,
  init: RequestInit,
): Promise<T> {
  const response = await fetch(`${SITE_URL}${path}`, {
    ...init,
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(() => {
    throw new Error(`${SITE_URL} does not respond. Check that the Worker runs.`);
  });
  const body = (await response.json().catch(() => ({}))) as T & { message?: string };
  if (response.ok) return body;
  const message = `${SITE_URL} answered ${response.status}. ${body.message ?? ''}`.trim();
  throw response.status < 500 ? new CallRefused(message) : new Error(message);
}

const defaultFile = fileURLToPath(new URL('../../../support-audit.jsonl', import.meta.url));

type AuditOutcome = 'started' | 'done' | 'incomplete' | 'failed' | 'refused';
type AuditEntry = {
  env: string;
  command: string;
  about: string;
};

/** If it throws, nothing must be done. */
export function writeAudit(entry: AuditEntry, outcome: AuditOutcome): void {
  const file = process.env['SUPPORT_AUDIT_FILE'] || defaultFile;
  const line = JSON.stringify({
    at: new Date().toISOString(),
    event: 'support_command',
    by: userInfo().username,
    ...entry,
    outcome,
  });
  appendFileSync(file, `${line}\n`, { mode: 0o600 });
  process.stderr.write(`${line}\n`);
}

/** Instants in unix ms are printed as dates. */
const firstInstant = 1_000_000_000_000;
const lastInstant = 10 * firstInstant;

export function asJson(data: unknown): string {
  const readable = (_: string, value: unknown) =>
    typeof value === 'number' && value >= firstInstant && value < lastInstant
      ? new Date(value).toISOString()
      : value;
  return JSON.stringify(data, readable, 2);
}
