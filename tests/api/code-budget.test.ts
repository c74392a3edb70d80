import { describe, expect, it, vi } from 'vitest';
import { botCall, call, randomAddress } from './support/api.ts';
import { advanceClock, day, minute } from './support/clock.ts';
import { database } from './support/database.ts';
import { parallel } from './support/parallel.ts';
import { newContact, newPhone } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';

const requestOtp = (phone: string, settings: Record<string, string>, address = randomAddress()) =>
  call('POST', '/api/auth/request-otp', { body: { phone }, settings, address });
const statusesOf = (answers: { status: number }[]) => answers.map(({ status }) => status).toSorted((a, b) => a - b);

/** Users whose last contact is a while ago. */
async function oldContacts(count: number): Promise<string[]> {
  const contacts = await parallel(count, () => newContact());
  advanceClock(11 * minute);
  return contacts.map(({ phone }) => phone);
}

async function sentToday(): Promise<number> {
  const sql = 'select sent from daily_codes where day = ?';
  const { rows } = await database.execute({ sql, args: [Math.floor(Date.now() / day)] });
  return Number(rows[0]?.sent ?? 0);
}

/** Settings that allow `left` more codes today. */
const budgetLeaving = async (left: number) => ({ CODE_BUDGET_PER_DAY: String((await sentToday()) + left) });

describe('the daily budget of codes', () => {
  it('holds for fifty parallel callers, and is 503 with the time to wait', async () => {
    const phones = await oldContacts(50);
    const settings = await budgetLeaving(7);
    const answers = await parallel(50, (index) => requestOtp(phones[index]!, settings));
    expect(statusesOf(answers)).toEqual([...Array(7).fill(200), ...Array(43).fill(503)]);
    const refused = answers.find(({ status }) => status === 503)!;
    expect(refused.body).toMatchObject({ success: false, code: 'unavailable' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(3600);
  });

  it('does not refuse a number that has just written to the assistant', async () => {
    const [phone] = await oldContacts(1);
    const settings = await budgetLeaving(0);
    expect((await requestOtp(phone!, settings)).status).toBe(503);
    await botCall('/api/bot/contacts', { phone });
    expect((await requestOtp(phone!, settings)).status).toBe(200);
  });

  it('resets each day, and does not count codes that WhatsApp refused', async () => {
    const [phone, other] = await oldContacts(2);
    const settings = await budgetLeaving(1);
    await sandbox.faults({ whatsapp: { status: 500 } });
    expect((await requestOtp(phone!, settings)).status).toBe(503);
    await sandbox.faults({ whatsapp: null });
    expect((await requestOtp(phone!, settings)).status).toBe(200);
    expect((await requestOtp(other!, settings)).status).toBe(503);
    advanceClock(day);
    expect((await requestOtp(other!, settings)).status).toBe(200);
  });

  it('is logged once when 80 % are used, and once when all are', async () => {
    advanceClock(3 * day);
    const lines: string[] = [];
    vi.spyOn(console, 'error').mockImplementation((line) => lines.push(String(line)));
    const phones = await oldContacts(12);
    for (const phone of phones) await requestOtp(phone, { CODE_BUDGET_PER_DAY: '10' });
    const events = lines.map((line) => JSON.parse(line)).filter(({ event }) => String(event).startsWith('code_budget'));
    expect(events).toEqual([
      { level: 'error', event: 'code_budget_low', sent: 8, budget: 10 },
      { level: 'error', event: 'code_budget_spent', sent: 10, budget: 10 },
    ]);
  });
});

describe('an IPv6 network of many subnets', () => {
  let networks = 0;
  const newNetwork = () => `2001:db8:${(Date.now() % 60_000).toString(16)}${(networks += 1)}`.slice(0, 14);
  const inSubnet = (network: string, subnet: number) => `${network}:${subnet}::1`;

  it('may have so many codes an hour, whichever subnet asks', async () => {
    const network = newNetwork();
    const settings = { LIMIT_CODES_PER_NETWORK: '3/1h' };
    const contacts = await parallel(5, () => newContact());
    const answers = await parallel(5, (index) =>
      requestOtp(contacts[index]!.phone, settings, inSubnet(network, index)),
    );
    expect(statusesOf(answers)).toEqual([200, 200, 200, 429, 429]);
    const { phone } = contacts[answers.findIndex(({ status }) => status === 429)]!;
    expect((await requestOtp(phone, settings, inSubnet(newNetwork(), 1))).status).toBe(200);
  });

  it('may ask so many times an hour', async () => {
    const network = newNetwork();
    const settings = { LIMIT_CODE_REQUESTS_PER_NETWORK: '3/1h' };
    const answers = await parallel(5, (index) => requestOtp(newPhone(), settings, inSubnet(network, index)));
    expect(statusesOf(answers)).toEqual([200, 200, 200, 429, 429]);
  });

  it('may try so many codes in five minutes', async () => {
    const network = newNetwork();
    const settings = { LIMIT_TRIES_PER_NETWORK: '3/5m' };
    const answers = await parallel(5, (index) => {
      const body = { phone: newPhone(), otp: '123456' };
      return call('POST', '/api/auth/verify-otp', { body, settings, address: inSubnet(network, index) });
    });
    expect(statusesOf(answers)).toEqual([401, 401, 401, 429, 429]);
  });
});
