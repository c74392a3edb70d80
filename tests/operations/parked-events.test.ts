import { afterAll, beforeEach, expect, it } from 'vitest';
import { dropParked, parkedEvents, retryParked } from '../../worker/operations/support/parked-events.ts';
import { openDatabase } from '../../worker/lib/database.ts';
import { settingsOf } from '../../worker/settings.ts';
import { sealParkedDeletions } from '../../worker/bot/outbox.ts';
import { startTestServices } from '../product/start-product.ts';

const services = await startTestServices();
const client = services.database;
const settings = settingsOf(services.vars)!;
const db = openDatabase(settings, { requests: 0, unreachable: false });
afterAll(() => services.close());

const park = (type: string, messageId: string | null, parkedAt: number | null) =>
  client.execute({
    sql: `insert into outbox (phone, body, message_id, due_at, attempts, parked_at) values (?, ?, ?, 0, 3, ?)`,
    args: ['+15551234567', JSON.stringify({ type, data: { phone: '+15551234567', messageId } }), messageId, parkedAt],
  });

beforeEach(async () => {
  await client.execute('delete from outbox');
  await park('user.deleted', null, 2000);
  await park('chat.message', 'm1', 1000);
  await park('plan.changed', null, null);
});

it('lists parked events alone, oldest first, and drops one, but none that still waits', async () => {
  const parked = await parkedEvents(db);
  expect(parked).toMatchObject([
    { type: 'chat.message', phone: '+15551234567', attempts: 3, parkedAt: 1000 },
    { type: 'user.deleted', parkedAt: 2000 },
  ]);
  expect(await dropParked(db, parked[0]!.seq)).toBe(true);
  expect(await parkedEvents(db)).toEqual([parked[1]]);
  const { rows } = await client.execute('select seq from outbox where parked_at is null');
  expect(await dropParked(db, rows[0]!['seq'] as number)).toBe(false);
});

it('sends a sealed deletion again with its number, also after the pepper was rotated', async () => {
  await sealParkedDeletions(db, settings);
  const deletion = (await parkedEvents(db)).find(({ type }) => type === 'user.deleted')!;
  expect(deletion.sealed).toBe(1);
  expect(deletion.phone).not.toContain('555');
  const rotated = (...peppers: string[]) => ({ db, settings: { ...settings, CODE_PEPPER: peppers } });
  await expect(retryParked(rotated('new'), deletion.seq, 5000)).rejects.toThrow('CODE_PEPPER');
  expect(await retryParked(rotated('new', ...settings.CODE_PEPPER), deletion.seq, 5000)).toBe(true);
  const { rows } = await client.execute({ sql: 'select * from outbox where seq = ?', args: [deletion.seq] });
  expect(rows[0]).toMatchObject({ phone: '+15551234567', parked_at: null });
  const event = { type: 'user.deleted', data: { phone: '+15551234567' } };
  expect(JSON.parse(rows[0]!['body'] as string)).toMatchObject(event);
});
