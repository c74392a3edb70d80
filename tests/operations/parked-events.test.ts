import { createClient } from '@libsql/client/web';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { dropParked, parkedEvents, retryParked } from '../../worker/operations/support/parked-events.ts';
import { openDatabase, type Database } from '../../worker/lib/database.ts';
import { settingsOf } from '../../worker/settings.ts';
import { startTestServices } from './test-services.ts';

let services: Awaited<ReturnType<typeof startTestServices>>;
let db: Database;
let client: ReturnType<typeof createClient>;

beforeAll(async () => {
  services = await startTestServices();
  const { TURSO_DATABASE_URL: url, TURSO_AUTH_TOKEN: authToken } = services.vars as Record<string, string>;
  client = createClient({ url: url!, authToken: authToken! });
  db = openDatabase(settingsOf(services.vars)!, { requests: 0, unreachable: false });
});
afterAll(() => services.close());

const park = (type: string, messageId: string | null, parkedAt: number | null) =>
  client.execute({
    sql: `insert into outbox (phone, body, message_id, due_at, attempts, parked_at) values (?, ?, ?, 0, 3, ?)`,
    args: ['+15551234567', JSON.stringify({ type, data: { messageId } }), messageId, parkedAt],
  });

beforeEach(async () => {
  await client.execute('delete from outbox');
  await park('user.deleted', null, 2000);
  await park('chat.message', 'm1', 1000);
  await park('plan.changed', null, null);
});

it('lists parked events alone, oldest first', async () => {
  expect(await parkedEvents(db)).toMatchObject([
    { type: 'chat.message', phone: '+15551234567', attempts: 3, parkedAt: 1000 },
    { type: 'user.deleted', parkedAt: 2000 },
  ]);
});

it('sends one again, a message although it failed', async () => {
  const [message, deletion] = await parkedEvents(db);
  expect(await retryParked(db, deletion!.seq, 5000)).toBe(true);
  expect(await retryParked(db, deletion!.seq, 5000)).toBe(false);
  expect(await retryParked(db, message!.seq, 5000)).toBe(true);
  const { rows } = await client.execute('select * from outbox where message_id is not null');
  expect(rows[0]).toMatchObject({ parked_at: null, due_at: 5000, attempts: 0 });
  expect(JSON.parse(rows[0]!['body'] as string).data).toEqual({ messageId: 'm1', retried: true });
});

it('drops one, and none that still waits', async () => {
  const [message] = await parkedEvents(db);
  expect(await dropParked(db, message!.seq)).toBe(true);
  expect(await parkedEvents(db)).toHaveLength(1);
  const { rows } = await client.execute('select seq from outbox where parked_at is null');
  expect(await dropParked(db, rows[0]!['seq'] as number)).toBe(false);
});
