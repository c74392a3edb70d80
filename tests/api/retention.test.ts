import { describe, expect, it } from 'vitest';
import { botCall, call } from './support/api.ts';
import { newSubscriber } from './support/buying.ts';
import { day } from './support/clock.ts';
import { runCron } from './support/cron.ts';
import { database } from './support/database.ts';
import { externalSession, newPerson } from './support/person.ts';
import { eventsAbout, sandbox } from './support/sandbox.ts';

const hourly = '0 * * * *';
const row = async (phone: string) =>
  (await database.execute({ sql: 'select * from users where phone = ?', args: [phone] })).rows[0];
/** Moves every use of the account so many days back, and makes its review due. */
async function age(phone: string, days: number): Promise<void> {
  const columns = ['created_at', 'contacted_at', 'last_contact_at', 'last_seen_at', 'week_start', 'week_anchor'];
  const earlier = [...columns, 'retention_notice_at'].map((column) => `${column} = ${column} - ${days * day}`);
  const sql = `update users set ${earlier.join(', ')}, retention_due_at = 0 where phone = ?`;
  await database.execute({ sql, args: [phone] });
}

async function review(): Promise<void> {
  await runCron(hourly);
  await runCron();
}

describe('an unused account', () => {
  it('is announced to the bot, and deleted 30 days later like one that its user deletes', async () => {
    const { phone, token } = await newPerson();
    await age(phone, 701);
    await review();
    const [notice] = await eventsAbout(phone);
    expect(notice).toMatchObject({ type: 'user.unused', data: { phone, userId: expect.any(String) } });
    const left = Date.parse(String(notice!.data.deletesAt)) - Date.now();
    expect(left).toBeGreaterThan(29.9 * day);
    await review();
    expect(await eventsAbout(phone)).toHaveLength(1);
    await age(phone, 31);
    await review();
    expect(await row(phone)).toBeUndefined();
    expect((await call('GET', '/api/user/me', { token })).status).toBe(401);
    expect((await eventsAbout(phone)).map(({ type }) => type)).toEqual(['user.unused', 'user.deleted']);
  });

  it('stays when its user writes or signs in after the notice', async () => {
    const [writer, visitor] = [await newPerson(), await newPerson()];
    for (const { phone } of [writer, visitor]) await age(phone, 701);
    await review();
    for (const { phone } of [writer, visitor]) await age(phone, 31);
    await botCall('/api/bot/contacts', { phone: writer.phone });
    await externalSession(visitor.phone);
    await review();
    expect(await row(writer.phone)).toBeDefined();
    expect(await row(visitor.phone)).toBeDefined();
  });

  it('stays while the bot has not accepted the notice', async () => {
    const { phone } = await newPerson();
    await age(phone, 701);
    await sandbox.faults({ bot: { status: 500 } });
    await review();
    await age(phone, 31);
    await review();
    expect(await row(phone)).toBeDefined();
  });
});

describe('an account in use', () => {
  it('is not announced, and its next review is set', async () => {
    const { phone } = await newPerson();
    await age(phone, 600);
    await review();
    expect(await eventsAbout(phone)).toEqual([]);
    const dueIn = Number((await row(phone))!.retention_due_at) - Date.now();
    expect(dueIn).toBeGreaterThan(99 * day);
    expect(dueIn).toBeLessThan(101 * day);
  });

  it('with a subscription stays, however long nobody has written', async () => {
    const { phone } = await newSubscriber('basic');
    await age(phone, 2000);
    await review();
    await age(phone, 31);
    await review();
    expect(await row(phone)).toBeDefined();
    expect((await eventsAbout(phone)).map(({ type }) => type)).not.toContain('user.unused');
  });
});
