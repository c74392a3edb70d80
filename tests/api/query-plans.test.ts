import { expect, it, vi } from 'vitest';
import { botCall, call } from './support/api.ts';
import { newWriter, reply, write } from './support/chat.ts';
import { runCron } from './support/cron.ts';
import { database } from './support/database.ts';
import { OpenChat } from './support/open-chat.ts';
import { externalSession, newContact, newPerson } from './support/person.ts';
import { OpenStream } from './support/stream.ts';

/** Allowed scans: constant rows, a subquery's one row, and partial indexes of due rows. */
const harmless = /^SCAN ((\d+ )?CONSTANT ROWS?|\(subquery-\d+\)|customers USING INDEX customers_due)$/;

type Value = { type: string; value?: string | number };
type Sent = { sql?: string; sql_id?: number; args?: Value[] };
type Statement = { sql: string; args: Value[] };
type Step = { sql?: string; sql_id?: number; stmt?: Sent; batch?: { steps: { stmt: Sent }[] } };

/** The statements that the Worker sends to the database during `work`, by their text. */
async function statementsOf(work: () => Promise<unknown>): Promise<Map<string, Statement>> {
  const statements = new Map<string, Statement>();
  const real = globalThis.fetch;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    if (request.url.endsWith('/pipeline')) {
      const { requests } = await request.clone().json<{ requests: Step[] }>();
      for (const statement of requests.flatMap((step) => statementsIn(step, requests))) {
        statements.set(statement.sql, statement);
      }
    }
    return real(request);
  });
  await work();
  vi.restoreAllMocks();
  return statements;
}

/** A repeated text is stored once and then referenced by its number. */
function statementsIn({ stmt, batch }: Step, requests: Step[]): Statement[] {
  const sent = stmt ? [stmt] : (batch?.steps ?? []).map((step) => step.stmt);
  const textOf = ({ sql, sql_id }: Sent) => sql ?? requests.find((step) => step.sql && step.sql_id === sql_id)!.sql!;
  return sent.map((one) => ({ sql: textOf(one), args: one.args ?? [] }));
}

async function everyCall(): Promise<void> {
  const { phone, token } = await newPerson();
  await botCall('/api/bot/usage', { phone });
  await botCall('/api/bot/entitlements', { phone });
  await botCall('/api/bot/approvals', { phone, status: 'approved' });
  await call('GET', '/api/user/me', { token });
  await call('PUT', '/api/user/platform', { token, body: { platform: 'web' } });
  const stream = await OpenStream.open(token);
  await call('POST', '/api/user/stream-ticket', { token });
  await call('POST', '/api/billing/create-subscription-update-session', { token });
  await call('POST', '/api/billing/create-portal-session', { token });
  const trial = await botCall('/api/bot/trials', { phone });
  const trialToken = new URL(trial.body.url).searchParams.get('token');
  await call('POST', '/auth/verify-trial-token', { body: { trialToken } });
  await call('POST', '/api/auth/logout', { token: await externalSession(phone) });
  await call('POST', '/api/auth/logout', { token: await externalSession(phone), body: { everywhere: true } });
  stream.close();
  await converse();
  await call('DELETE', '/api/user/me', { token: await externalSession((await newContact()).phone) });
  await runCron();
  await runCron('0 * * * *');
  await call('GET', '/api/health');
}

async function converse(): Promise<void> {
  const { phone, token } = await newWriter();
  const chat = await OpenChat.open(token);
  const { message } = (await write(token, 'Hello')).body;
  await write(token, 'Hello', message.id);
  await reply(phone, 'Hello', 'reply-1', { crisis: true });
  await botCall('/api/bot/typing', { phone });
  await call('DELETE', '/api/user/chat', { token });
  await call('DELETE', '/api/user/chat/consent', { token });
  chat.close();
}

it('finds every row by an index', async () => {
  const statements = [...(await statementsOf(everyCall)).values()].filter(({ sql }) => !/^(begin|commit)/i.test(sql));
  expect(statements.length).toBeGreaterThan(40);
  const scans: string[] = [];
  for (const { sql, args } of statements) {
    const values = args.map(({ type, value }) => (type === 'null' ? null : type === 'float' ? Number(value) : value!));
    const { rows } = await database.execute({ sql: `explain query plan ${sql}`, args: values });
    const plan = rows.map(({ detail }) => detail as string);
    const slow = plan.filter((step) => step.startsWith('SCAN') && !harmless.test(step));
    if (slow.length > 0) scans.push(`${slow.join('; ')} in ${sql}`);
  }
  expect(scans).toEqual([]);
});
