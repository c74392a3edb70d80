import { describe, expect, it, vi } from 'vitest';
import { newSettledWriter, outboxOf, stateOf, untilState } from './support/chat-delivery.ts';
import { acceptedBy, write } from './support/chat.ts';
import { advanceClock, minute, second } from './support/clock.ts';
import { runCron } from './support/cron.ts';
import { database } from './support/database.ts';
import { sandbox } from './support/sandbox.ts';

async function queueAsIfKilled(phone: string, userId: string, messageId: string): Promise<void> {
  const data = { phone, userId, messageId, locale: null, country: null };
  const body = JSON.stringify({ type: 'chat.message', timestamp: new Date().toISOString(), data });
  await database.execute({
    sql: 'insert into outbox (phone, body, message_id, created_at, due_at) values (?, ?, ?, ?, ?)',
    args: [phone, body, messageId, Date.now(), Date.now()],
  });
}

describe('a Worker that is killed', () => {
  it('after it queued the event and before it stored the message: nothing is sent, and a retry is', async () => {
    const { phone, token } = await newSettledWriter();
    const id = crypto.randomUUID();
    await write(token, 'Hello', id);
    await untilState(token, id, 'delivered');
    const userId = (await acceptedBy(phone))[0]!.userId;
    await queueAsIfKilled(phone, userId, 'never-stored');
    await runCron();
    expect(await outboxOf(phone)).toHaveLength(1);
    advanceClock(minute);
    await runCron();
    expect(await outboxOf(phone)).toEqual([]);
    expect(await acceptedBy(phone)).toHaveLength(1);
  });

  it('after the bot accepted the message and before that was noted: the same event arrives again', async () => {
    const { phone, token } = await newSettledWriter();
    await sandbox.faults({ bot: { cut: true } });
    const { message } = (await write(token, 'Hello')).body;
    await vi.waitFor(async () => expect(await acceptedBy(phone)).toHaveLength(1));
    await sandbox.faults({ bot: null });
    expect(await stateOf(token, message.id)).toBe('sent');
    advanceClock(minute);
    await runCron();
    await untilState(token, message.id, 'delivered');
    expect((await sandbox.botEvents()).filter(({ data }) => data.messageId === message.id)).toHaveLength(1);
  });

  it('after it stored the message: the cron job sends it', async () => {
    const { phone, token } = await newSettledWriter();
    await sandbox.faults({ bot: { drop: true } });
    const { message } = (await write(token, 'Hello')).body;
    await scheduler.wait(300);
    // The row of a request that was killed during delivery: leased, and never released.
    const sql = 'update outbox set leased_until = ?, due_at = ? where phone = ?';
    await database.execute({ sql, args: [Date.now() + 30_000, Date.now(), phone] });
    await sandbox.faults({ bot: null });
    await runCron();
    expect(await stateOf(token, message.id)).toBe('sent');
    advanceClock(31 * second);
    await runCron();
    expect(await stateOf(token, message.id)).toBe('delivered');
  });
});
