import {
  lineOf,
  fine,
  type Finding,
  wrong,
  howToGet,
  failureReasonOf,
  warning,
} from './doctor-finding.ts';
import { runCommand } from '../command-line.ts';
import { readCommand, type Target, type Values, howToGetOwnerSettings } from '../owner-command.ts';
import { type SettingName, SettingRules, type SettingValues } from '../../setting-rules.ts';
import { type Settings, withRequire } from '../../settings.ts';
import {
  checkAddresses,
  checkBot,
  checkContact,
  checkIssuer,
  checkMail,
  checkPush,
  checkWhatsapp,
} from './service-checks.ts';
import { checkStripe } from './stripe-checks.ts';
import * as v from 'valibot';
import {
  chatKeyName,
  isShort,
  keyNamesOf,
  repeatedSecrets,
  secretsOf,
  type Secret,
} from '../../lib/secrets.ts';
import { readFileSync } from 'node:fs';
import { createClient, type Client } from '@libsql/client/web';
import { brand } from '../../contract/brand.ts';
import { helpLines } from '../../contract/help-lines.ts';
import { dayMs } from '../../lib/time.ts';
import { checkOutside } from './deployed-site.ts';
import { callerSecretsIn } from './signed-calls.ts';

/* `npm run doctor [-- --env preview|production]`: checks every setting and outside service; exit code 1 when one fails. */

type ServiceCheck = {
  needs: SettingName[];
  check: (settings: Settings) => Promise<Finding[]>;
};
/**
 * `mayBeBehind` accepts missing migrations: while
 * the site `isPaused`, whatever they remove.
 */
type Behind = { mayBeBehind?: boolean; isPaused?: boolean };
type CheckOptions = { target: Target } & Behind;

export async function runChecks(
  values: Values,
  { target, ...behind }: CheckOptions,
): Promise<Finding[]> {
  const { settings, findings } = checkSettings(values);
  findings.push(...checkSecrets(settings), ...checkAddresses(settings, target));
  const atFault = new Set<string>(
    findings.flatMap((finding) => (finding.ok ? [] : [finding.about])),
  );
  const serviceChecks: ServiceCheck[] = [
    {
      needs: ['TURSO_DATABASE_URL', 'TURSO_AUTH_TOKEN'],
      check: (all) => checkDatabase(all, behind),
    },
    {
      needs: ['STRIPE_API_BASE', 'STRIPE_SECRET_KEY', 'SITE_URL'],
      check: (all) => checkStripe(all, target),
    },
    { needs: whatsapp, check: checkWhatsapp },
    { needs: ['BOT_WEBHOOK_URL', 'BOT_WEBHOOK_SECRET'], check: checkBot },
    { needs: ['EXTERNAL_TOKEN_JWKS_URL'], check: checkIssuer },
    { needs: ['MAIL_API_URL', 'MAIL_API_KEY', 'MAIL_FROM'], check: checkMail },
    { needs: ['VAPID_KEYS', 'PUSH_HOSTS'], check: async (all) => checkPush(all, target) },
  ];
  // Before a deployment the site is what it
  // replaces; `smoke` looks at the new one.
  if (!behind.mayBeBehind)
    serviceChecks.push({
      needs: ['SITE_URL'],
      check: (all) => checkOutside(all, target, callerSecretsIn(values)),
    });
  const fit = serviceChecks.filter(({ needs }) => !needs.some((name) => atFault.has(name)));
  const usable = withRequire(settings as SettingValues);
  const told = await Promise.all([
    ...fit.map(({ check }) => check(usable)),
    checkContact(values, target).then((finding) => [finding]),
  ]);
  return [
    ...findings,
    ...told.flat(),
    ...checkHelpLines(values, new Date()),
    ...checkExamples(),
    ...checkDisputes(settings),
    ...checkWithdrawal(settings),
  ];
}

const examples: [about: string, isExample: () => boolean, remedy: string][] = [
  [
    'Company name',
    () => brand.company === 'Solace Wellness, Inc.',
    'Write your own in worker/contract/brand.ts.',
  ],
  [
    'Company address',
    () => brand.companyAddress.includes('Example Street'),
    'Write your own in worker/contract/brand.ts: people send withdrawals there by letter.',
  ],
  [
    'Business number',
    () => brand.businessPhone === '+1 (555) 010-0199',
    'Write your own in worker/contract/brand.ts.',
  ],
  [
    'Chat number',
    () => brand.chatNumber === '15550100199',
    'Write that of your companion in worker/contract/brand.ts: every link to WhatsApp opens it.',
  ],
  [
    'Support address',
    () => brand.supportEmail.endsWith('.example'),
    'Write your own in worker/contract/brand.ts: people send withdrawals there by e-mail.',
  ],
  [
    'Support hours',
    () => textOf('contact').includes('Monday-Friday 9:00 AM-6:00 PM EST'),
    'Write your own in web/words/en/contact.json, and in the other languages.',
  ],
  [
    'Testimonials',
    () =>
      ['Marta', 'Daniel', 'Aiyana'].some((name) => textOf('landing').includes(`"who": "${name}"`)),
    'Show only real people who have agreed, in web/words/en/landing.json and in the other languages; keep their consent.',
  ],
];

const textOf = (name: string) =>
  readFileSync(new URL(`../../../web/words/en/${name}.json`, import.meta.url), 'utf8');

function checkExamples(): Finding[] {
  return examples.map(([about, isExample, remedy]) =>
    isExample()
      ? warning(about, 'is the example of this repository', remedy)
      : fine(`${about}: your own`),
  );
}

function checkDisputes({ ON_DISPUTE: choice }: Partial<SettingValues>): Finding[] {
  if (!choice) return [];
  return [
    fine(
      `A disputed payment ${choice === 'cancel' ? 'ends the subscription' : 'changes nothing'} (ON_DISPUTE)`,
    ),
  ];
}

/** The law of the EU gives 14 days. */
const daysOfLaw = 14;

function checkWithdrawal({ WITHDRAWAL_DAYS: days }: Partial<SettingValues>): Finding[] {
  const about = 'Withdrawal from contracts';
  if (days === undefined) return [];
  if (days >= daysOfLaw) return [fine(`${about}: within ${days} days (WITHDRAWAL_DAYS)`)];

  const says = days === 0 ? 'is turned off (WITHDRAWAL_DAYS)' : `ends after ${days} days`;
  const remedy = `The law of the EU asks for ${daysOfLaw} days; leave WITHDRAWAL_DAYS out if you sell there.`;
  return [warning(about, says, remedy)];
}

const whatsapp: SettingName[] = [
  'WHATSAPP_API_BASE',
  'WHATSAPP_API_VERSION',
  'WHATSAPP_TOKEN',
  'WHATSAPP_PHONE_NUMBER_ID',
  'WHATSAPP_TEMPLATE_NAME',
  'WHATSAPP_TEMPLATE_LANGUAGE',
];

export const settingNames = Object.keys(SettingRules.entries) as SettingName[];

function checkSettings(values: Values): {
  settings: Partial<SettingValues>;
  findings: Finding[];
} {
  const settings: Partial<Record<SettingName, unknown>> = {};
  const findings: Finding[] = [];
  for (const name of settingNames) {
    const result = v.safeParse(SettingRules.entries[name], values[name]);
    if (result.success) settings[name] = result.output;
    else findings.push(wrong(name, values[name] ? 'is malformed' : 'is missing', howToGet[name]));
  }
  if (findings.length === 0)
    findings.push(fine(`${settingNames.length} settings are there or have their default`));
  return { settings: settings as Partial<SettingValues>, findings };
}

const ours = new Set([
  'SESSION_KEYS',
  'CHAT_KEYS',
  'CODE_PEPPER',
  'BOT_WEBHOOK_SECRET',
  'STRIPE_WEBHOOK_SECRET',
  'VAPID_KEYS',
]);
const fewestCharacters = 10;

function checkSecrets(settings: Partial<SettingValues>): Finding[] {
  const secrets = secretsOf(settings);
  const weak = secrets.filter((secret) => isShort(secret) || isPlain(secret));
  const findings = [
    ...weak.map(({ name }) =>
      wrong(name, 'is too short or too plain to be a secret', howToGet[name]),
    ),
    ...repeatedSecrets(secrets).map(({ name, first }) =>
      wrong(name, `is the same as ${first}`, howToGet[name]),
    ),
  ];
  return findings.length > 0 ? findings : [fine('Secrets are long enough, and each is another')];
}

function isPlain({ name, value }: Secret): boolean {
  if (!ours.has(name)) return false;
  if (name === 'STRIPE_WEBHOOK_SECRET' && !/^whsec_.{32,}$/.test(value)) return true;
  if (name === 'BOT_WEBHOOK_SECRET' && !value.startsWith('whsec_')) return true;
  return new Set(value.replace(/^whsec_/, '')).size < fewestCharacters;
}

type Journal = { entries: { tag: string; when: number }[] };

const journalFile = new URL('../../../drizzle/migrations/meta/_journal.json', import.meta.url);

async function checkDatabase(settings: Settings, behind: Behind): Promise<Finding[]> {
  const { TURSO_DATABASE_URL: url, TURSO_AUTH_TOKEN: authToken } = settings;
  const client = createClient({ url, ...(authToken && { authToken }) });

  try {
    await client.execute('select 1');
    const waiting = await waitingMigrations(client);
    const schema = checkSchema(waiting, journaled(), behind);
    const isCurrent = waiting.length === 0;
    const stored = isCurrent
      ? [await checkParked(client), await checkContacts(client, Date.now())].flat()
      : [];
    const keys = await checkChatKeys(client, settings.require('CHAT_KEYS'));

    return [fine('The database answers'), schema, await checkWriting(client), ...stored, ...keys];
  } catch (error) {
    return [refusal(error)];
  } finally {
    client.close();
  }
}

export function checkSchema(
  waiting: string[],
  all: string[],
  { mayBeBehind, isPaused }: Behind,
): Finding {
  if (waiting.length === 0) return fine('The database has the newest schema');

  const list = waiting.join(', ');
  if (!mayBeBehind)
    return wrong(
      'TURSO_DATABASE_URL',
      `the database lacks ${list}`,
      'Run `npm run deploy`, which migrates it.',
    );

  const isEmpty = waiting.length === all.length;
  const removal = isEmpty || isPaused ? undefined : prematureRemoval(waiting);
  if (!removal) return fine(`The database waits for ${list}`);

  const what = `${removal} removes what the present version may use, since ${waiting[0]} waits too`;
  const how = `Deploy the commit before the one that \`git log -- drizzle/migrations/${removal}.sql\` names, then this one.`;
  return wrong('Migrations', what, `${how} Or pause the site and add \`--paused\`.`);
}

export function prematureRemoval(waiting: string[]): string | undefined {
  const isRemoval = (tag: string) => tag.endsWith('_contract');
  const addition = waiting.findIndex((tag) => !isRemoval(tag));
  return addition < 0 ? undefined : waiting.slice(addition).find(isRemoval);
}

function journaled(): string[] {
  return journal().map(({ tag }) => tag);
}

function journal(): Journal['entries'] {
  return (JSON.parse(readFileSync(journalFile, 'utf8')) as Journal).entries;
}

async function waitingMigrations(client: Client): Promise<string[]> {
  const entries = journal();
  const known = await client.execute(
    "select 1 from sqlite_master where name = '__drizzle_migrations'",
  );
  if (known.rows.length === 0) return entries.map(({ tag }) => tag);
  const { rows } = await client.execute(
    'select max(created_at) as newest from __drizzle_migrations',
  );
  return entries.filter(({ when }) => when > Number(rows[0]?.newest ?? 0)).map(({ tag }) => tag);
}

async function checkWriting(client: Client): Promise<Finding> {
  try {
    const transaction = await client.transaction('write');
    await transaction.execute('create table doctor_was_here (at integer)');
    await transaction.rollback();
    return fine('The database takes writes');
  } catch {
    return wrong('TURSO_AUTH_TOKEN', 'allows no writes', howToGet.TURSO_AUTH_TOKEN);
  }
}

function refusal(error: unknown): Finding {
  const { status } = ((error as Error).cause ?? {}) as { status?: number };
  if (status === 401 || status === 403) {
    return wrong('TURSO_AUTH_TOKEN', 'is refused by the database', howToGet.TURSO_AUTH_TOKEN);
  }
  const why = status ? `it answers ${status}` : failureReasonOf(error);
  return wrong(
    'TURSO_DATABASE_URL',
    `the database does not answer (${why})`,
    howToGet.TURSO_DATABASE_URL,
  );
}

async function checkParked(client: Client): Promise<Finding[]> {
  const { rows } = await client.execute(
    'select count(*) as parked from outbox where parked_at is not null',
  );
  const parked = Number(rows[0]?.['parked'] ?? 0);
  if (parked === 0) return [fine('No event for the bot is parked')];
  const what = `the bot refused ${parked} events for good`;
  return [
    warning(
      'Parked events',
      what,
      'List them with `npm run support -- outbox`, then retry or drop them.',
    ),
  ];
}

/** A counted message does not say its channel. */
async function checkContacts(client: Client, now: number): Promise<Finding[]> {
  const counted = await client.execute({
    sql: `select count(distinct users.id) as people from bot_calls join users on users.id = bot_calls.facts ->> 'userId'
      where bot_calls.at > ? and bot_calls.outcome in ('allowed', 'spent')
        and users.chat_consent_at is null
        and users.platform = 'whatsapp' and users.last_contact_at < bot_calls.at - 300000`,
    args: [now - 86_400_000],
  });
  const people = Number(counted.rows[0]?.['people'] ?? 0);
  if (people === 0) return [];
  const what = `the bot counted messages of ${people} people today without reporting their contact`;
  const remedy =
    'Let it call /api/bot/contacts with every message, or with the first of any five minutes.';
  return [warning('The bot', what, remedy)];
}

async function checkChatKeys(client: Client, ring: string | undefined): Promise<Finding[]> {
  const column = await client.execute(
    "select 1 from pragma_table_info('users') where name = 'chat_key_id'",
  );
  if (!ring || column.rows.length === 0) return [];

  const { rows } = await client.execute(
    'select distinct chat_key_id as id from users where chat_key_id is not null',
  );

  const held = new Set(keyNamesOf(ring));
  const used = new Set(rows.map(({ id }) => chatKeyName(id as string)));
  const lost = [...used].filter((name) => !held.has(name));
  if (lost.length === 0) return [];

  const what = `lacks ${lost.join(', ')}, with which conversations are encrypted`;
  return [
    wrong('CHAT_KEYS', what, `Put the old key back behind the new one. ${howToGet.CHAT_KEYS}`),
  ];
}

const remedy = howToGetOwnerSettings.HELP_LINES_READ_ON;

function checkHelpLines(values: Values, now: Date): Finding[] {
  const stale = staleHelpLines(now);
  const reading = {
    missing: warning(
      helpLinesReadOnSetting,
      'is missing: nobody of the team has confirmed the help lines',
      remedy,
    ),
    invalid: wrong(helpLinesReadOnSetting, 'is no past date such as 2026-11-21', remedy),
    stale: warning(helpLinesReadOnSetting, `is more than ${helpLinesMaximumDays} days ago`, remedy),
    current: fine('The help lines were read by the team'),
  }[helpLinesReading(values[helpLinesReadOnSetting], now)];
  if (stale.length === 0) return [reading];
  const named = stale
    .slice(0, 3)
    .map(({ country, service, readOn }) => `${service} (${country}, ${readOn})`);
  const others = stale.length > named.length ? `, and ${stale.length - named.length} more` : '';
  const what = `${stale.length} sources are older than ${helpLinesMaximumDays} days: ${named.join(', ')}${others}`;
  return [
    reading,
    warning(
      'Help lines',
      what,
      'Read their pages and write the date as `readOn` in worker/contract/help-lines.ts.',
    ),
  ];
}

const helpLinesReadOnSetting = 'HELP_LINES_READ_ON';

const helpLinesMaximumDays = 120;

export type StaleHelpLine = {
  country: string;
  service: string;
  readOn: string;
};

/** A date without a day counts from the first. */
export function staleHelpLines(now: Date, days = helpLinesMaximumDays): StaleHelpLine[] {
  return Object.entries(helpLines).flatMap(([country, { lines }]) =>
    lines
      .filter((line) => isOlder(line.readOn, now, days))
      .map(({ service, readOn }) => ({ country, service, readOn })),
  );
}

export function helpLinesReading(
  value: string | undefined,
  now: Date,
): 'missing' | 'invalid' | 'stale' | 'current' {
  if (!value) return 'missing';
  if (!isDay(value) || Date.parse(value) > now.getTime()) return 'invalid';
  return isOlder(value, now, helpLinesMaximumDays) ? 'stale' : 'current';
}

const isOlder = (date: string, now: Date, days: number) =>
  now.getTime() - Date.parse(date) > days * dayMs;

/** `Date.parse` alone would take 30 February for 2 March. */
function isDay(value: string): boolean {
  const time = Date.parse(value);
  return (
    /^\d{4}-\d\d-\d\d$/.test(value) &&
    !Number.isNaN(time) &&
    new Date(time).toISOString().startsWith(value)
  );
}

async function printFindings(): Promise<boolean> {
  const { target, values } = readCommand('local', {
    usage: 'npm run doctor -- [--env preview|production]',
  });
  const findings = await runChecks(values, { target });
  for (const finding of findings) process.stdout.write(`${lineOf(finding)}\n`);

  const failed = findings.filter(({ ok }) => !ok).length;
  const warnings = findings.filter((finding) => finding.ok && finding.warning).length;
  const summary =
    failed > 0 ? `${failed} of ${findings.length} checks failed.` : 'Every check passed.';
  process.stdout.write(`${summary}${warnings > 0 ? ` Warnings: ${warnings}.` : ''}\n`);
  return failed === 0;
}

if (process.argv[1] === import.meta.filename) await runCommand(printFindings);
