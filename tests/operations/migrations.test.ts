import { globSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consentVersion } from '../../worker/contract/chat-limits.ts';
import { waitUntilReady } from '../product/machine.ts';
import { runMinuteCron } from '../product/start-product.ts';
import { until } from '../api/support/clock.ts';
import { newNumber, startTestProduct } from './test-product.ts';

const folder = new URL('../../drizzle/migrations/', import.meta.url);
const journal = JSON.parse(readFileSync(new URL('meta/_journal.json', folder), 'utf8')) as {
  entries: { idx: number; tag: string; when: number }[];
};
const files = readdirSync(folder)
  .filter((name) => name.endsWith('.sql'))
  .toSorted();

/** Each statement that would break the running version while it is applied, after the reason. */
function troubles(text: string): string[] {
  const statements = text.split('--> statement-breakpoint').map((statement) => statement.trim());
  const tableOf = (statement: string) => /(?:TABLE|ON) `(\w+)`/i.exec(statement)?.[1];
  const created = statements.filter((statement) => /^CREATE TABLE/i.test(statement)).map(tableOf);
  return statements.flatMap((statement) => {
    const why = problem(statement, created.includes(tableOf(statement)));
    return why ? [`${why}: ${statement}`] : [];
  });
}

function problem(statement: string, isNewTable: boolean): string | null {
  if (/^CREATE UNIQUE INDEX/i.test(statement))
    return isNewTable ? null : 'may refuse what the old version writes';
  if (/^CREATE TRIGGER/i.test(statement) && /INSERT INTO `\w+` (?:SELECT|VALUES)/i.test(statement))
    return 'names no columns, so that it fails once the next version adds one';
  if (/^(CREATE (TABLE|INDEX|TRIGGER)|INSERT|UPDATE)/i.test(statement)) return null;
  if (!/^ALTER TABLE `\w+` ADD /i.test(statement)) return 'takes away what the old version uses';
  return /NOT NULL/i.test(statement) && !/DEFAULT/i.test(statement)
    ? 'the old version does not fill it'
    : null;
}

it('stand in the journal, all of them, in the order of their time', () => {
  expect(journal.entries.map(({ tag }) => `${tag}.sql`)).toEqual(files);
  const times = journal.entries.map(({ when }) => when);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

/** Removals have their own migration, named `…_contract`, after no running version reads the column any more. */
it.each(files.filter((file) => !file.endsWith('_contract.sql')))('%s only adds', (file) => {
  expect(troubles(readFileSync(new URL(file, folder), 'utf8'))).toEqual([]);
});

it.each([
  'DROP TABLE `users`;',
  'ALTER TABLE `users` DROP COLUMN `used`;',
  'ALTER TABLE `users` RENAME COLUMN `used` TO `spent`;',
  'ALTER TABLE `users` ADD `name` text NOT NULL;',
  'CREATE UNIQUE INDEX `one` ON `users` (`name`);',
  'CREATE TRIGGER `one` AFTER INSERT ON `users` BEGIN INSERT INTO `other` SELECT new.`id`; END;',
])('refuses %s', (statement) => {
  expect(troubles(statement)).toHaveLength(1);
});

let product: Awaited<ReturnType<typeof startTestProduct>>;

/** Each isolate prepares its statements once: the Worker starts on the schema that it finds. */
async function restart(): Promise<void> {
  await product.restartWorker();
  await waitUntilReady([`${product.siteUrl}/api/health`], product.ended);
}

/** The next version's migration, with everything that the rule above allows, on every table. */
async function migrateFurther(): Promise<number> {
  const { database } = product;
  const { rows } = await database.execute(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like '\\_\\_%' escape '\\'",
  );
  for (const { name } of rows as unknown as { name: string }[]) {
    await database.execute(`alter table ${name} add later_text text`);
    await database.execute(`alter table ${name} add later_number integer default 7 not null`);
    await database.execute(`create index ${name}_later on ${name} (later_text)`);
  }
  await database.execute('create table later (id text primary key not null, user_id text)');
  return rows.length;
}

/** One after the other: a person of the version before, then the schema of the next one under the same Worker. */
const inOrder = { shuffle: false, tags: ['full'] };
describe('after a rollback, a version meets the schema of the next one', inOrder, () => {
  let before: Session;

  beforeAll(async () => {
    product = await startTestProduct();
  });

  afterAll(() => product?.close());

  it('works before it, on its own schema', async () => {
    before = await openSession('+15557654321');
    await useEverything(before);
    expect(before.troubles).toEqual([]);
  });

  it('keeps sessions, plans and conversations, and serves new people', async () => {
    expect(await migrateFurther()).toBeGreaterThan(10);
    await restart();
    // Those of the Worker that was killed are gone.
    const temporary = globSync('temporary-*/*', { cwd: join(product.folder, 'state') });
    expect(new Set(temporary.map(dirname)).size).toBe(1);
    const { profile } = await before.call('GET', '/api/user/me');
    expect(profile.metadata).toMatchObject({
      subscriptionTier: 'premium',
      subscriptionStatus: 'active',
    });
    const after = await openSession('+15557654322');
    await useEverything(after);
    await before.call('DELETE', '/api/user/me');
    expect([...before.troubles, ...after.troubles]).toEqual([]);
  });

  it('would fail on a column that is gone: such a migration waits until no version uses it', async () => {
    await product.database.execute('alter table users rename column tier to plan');
    await restart();
    const session = await openSession('+15557654323');
    await useEverything(session);
    expect(session.troubles).toContainEqual(
      expect.stringMatching(/^POST .*create-subscription-update-session: 500/),
    );
  });
});

type Session = Awaited<ReturnType<typeof openSession>>;

/** The calls of somebody who signs in; `troubles` are those that did not work, as `what: status body`. */
async function openSession(phone: string) {
  const token = await product.signIn(phone);
  const troubles: string[] = [];
  async function call(method: string, path: string, body?: object): Promise<Record<string, any>> {
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
    };
    const init = {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    };
    const response = await fetch(product.siteUrl + path, init);
    const text = await response.text();
    const found = text.startsWith('{') ? (JSON.parse(text) as Record<string, any>) : { text };
    if (response.status === 200 && found.success !== false) return found;
    troubles.push(`${method} ${path}: ${response.status} ${text}`);
    return {};
  }
  return { call, troubles };
}

/** Uses each feature that writes rows. */
async function useEverything({ call, troubles }: Session): Promise<void> {
  await call('GET', '/api/user/me');
  await call('PUT', '/api/user/platform', { platform: 'web' });
  await call('PUT', '/api/user/chat/consent', { version: consentVersion });
  const sent = await call('POST', '/api/user/chat/messages', {
    id: crypto.randomUUID(),
    text: 'How are you?',
  });
  await call('GET', '/api/user/sessions');
  await call('POST', '/api/user/stream-ticket');
  await call('GET', '/api/user/export');

  const { portalUrl } = await call('POST', '/api/billing/create-subscription-update-session', {
    tier: 'premium',
  });
  if (portalUrl) {
    const page = await fetch(portalUrl, {
      method: 'POST',
      body: new URLSearchParams(),
      redirect: 'manual',
    });
    const sessionId = new URL(page.headers.get('location')!).searchParams.get('session_id');
    const bought = await call('POST', '/api/billing/verify-and-update-checkout-session', {
      sessionId,
    });
    if (bought.newTier !== 'premium') troubles.push(`the plan: ${JSON.stringify(bought)}`);
  }

  const invited = newNumber();
  await product.writeToAssistant(invited);
  const trial = await product.startTrial(invited, { days: 3 }).catch(() => '');
  if (!trial) troubles.push('the trial opens no session');

  await runMinuteCron(product.siteUrl);
  if (!sent.success) return;
  const messages = async () =>
    (await call('GET', '/api/user/chat')).messages as { author: string }[] | undefined;
  await until('a reply in the chat', messages, (all) =>
    all?.some(({ author }) => author === 'solace'),
  );
}
