import { describe, expect, it } from 'vitest';
import { botCall, call, parallel, randomAddress, randomNetwork } from './support/api.ts';
import { advanceClock, day, minute } from './support/clock.ts';
import { database } from './support/database.ts';
import { logLines } from './support/log.ts';
import {
  deleteAccount,
  newContact,
  newPerson,
  newPhone,
  otherThan,
  requestOtp,
  tryTwentyTimes,
  verifyOtp,
} from './support/person.ts';
import { newestCode, sandbox } from './support/sandbox.ts';
import { limitByAddress } from '../../worker/http/limit-calls.ts';
import type { BaseContext } from '../../worker/http/request-context.ts';

const requestWith = (phone: string, settings: Record<string, string>, address = randomAddress()) =>
  call('POST', '/api/auth/request-otp', { body: { phone }, settings, address });
const statusesOf = (answers: { status: number }[]) => answers.map(({ status }) => status).toSorted((a, b) => a - b);

/** Users whose last contact is a while ago, at noon of a day of their own: nobody else uses that day's budget. */
async function oldContacts(count: number): Promise<string[]> {
  const [later] = crypto.getRandomValues(new Uint16Array(1));
  advanceClock((2 + later!) * day + day / 2 - (Date.now() % day));
  const contacts = await parallel(count, () => newContact());
  advanceClock(11 * minute);
  return contacts.map(({ phone }) => phone);
}

describe('the daily budget of codes', () => {
  it('holds for fifty parallel callers, and is 503 with the time to wait', async () => {
    const phones = await oldContacts(50);
    const settings = { CODE_BUDGET_PER_DAY: '7' };
    const answers = await parallel(50, (index) => requestWith(phones[index]!, settings));
    expect(statusesOf(answers)).toEqual([...Array(7).fill(200), ...Array(43).fill(503)]);
    const refused = answers.find(({ status }) => status === 503)!;
    expect(refused.body).toMatchObject({ success: false, code: 'unavailable' });
    expect(refused.headers.get('retry-after')).toBe('3600');
  });

  it('does not refuse a number that has just written to the assistant', async () => {
    const [phone, other] = await oldContacts(2);
    const settings = { CODE_BUDGET_PER_DAY: '1' };
    expect((await requestWith(other!, settings)).status).toBe(200);
    expect((await requestWith(phone!, settings)).status).toBe(503);
    await botCall('/api/bot/contacts', { phone });
    expect((await requestWith(phone!, settings)).status).toBe(200);
  });

  it('resets each day, and does not count codes that WhatsApp refused', async () => {
    const [phone, other] = await oldContacts(2);
    const settings = { CODE_BUDGET_PER_DAY: '1' };
    await sandbox.faults({ whatsapp: { status: 500, match: phone!.slice(1) } });
    expect((await requestWith(phone!, settings)).status).toBe(503);
    await sandbox.faults({ whatsapp: null });
    expect((await requestWith(phone!, settings)).status).toBe(200);
    expect((await requestWith(other!, settings)).status).toBe(503);
    advanceClock(day);
    expect((await requestWith(other!, settings)).status).toBe(200);
  });

  it('is logged once when 80 % are used, and once when all are', async () => {
    const phones = await oldContacts(12);
    for (const phone of phones) await requestWith(phone, { CODE_BUDGET_PER_DAY: '10' });
    expect(logLines().filter(({ event }) => event.startsWith('code_budget'))).toEqual([
      { level: 'error', event: 'code_budget_low', sent: 8, budget: 10 },
      { level: 'error', event: 'code_budget_spent', sent: 10, budget: 10 },
    ]);
  });
});

describe('two ceilings that nobody passes', () => {
  it('are 30 codes a day for a number, however often it writes', async () => {
    advanceClock(0);
    const { phone } = await newContact();
    const statuses: number[] = [];
    for (let codes = 0; codes < 32; codes += 1) {
      statuses.push((await requestOtp(phone)).status);
      await botCall('/api/bot/contacts', { phone });
    }
    expect(statuses).toEqual([...Array(30).fill(200), 429, 429]);
    expect(await sandbox.messages(phone)).toHaveLength(30);
    const { headers } = await requestOtp(phone);
    expect(headers.get('retry-after')).toBe('86400');
  });

  it('outlive the account, as a keyed hash of its number', async () => {
    advanceClock(0);
    const settings = { LIMIT_CODES_PER_NUMBER_HARD: '2/1d' };
    const person = await newPerson();
    await botCall('/api/bot/contacts', { phone: person.phone });
    expect((await requestWith(person.phone, settings)).status).toBe(200);
    await deleteAccount(person.token);
    await newContact(person.phone);
    expect((await requestWith(person.phone, settings)).status).toBe(429);
    const sql = 'select count(*) as found from rate_limit_events where instr(subject, ?)';
    const { rows } = await database.execute({ sql, args: [person.phone.slice(1)] });
    expect(rows[0]!.found).toBe(0);
    advanceClock(day);
    expect((await requestWith(person.phone, settings)).status).toBe(200);
  });

  it('do not count a code that WhatsApp refused', async () => {
    const { phone } = await newContact();
    const settings = { LIMIT_CODES_PER_NUMBER_HARD: '1/1d' };
    await sandbox.faults({ whatsapp: { status: 500, match: phone.slice(1) } });
    expect((await requestWith(phone, settings)).status).toBe(503);
    await sandbox.faults({ whatsapp: null });
    expect((await requestWith(phone, settings)).status).toBe(200);
    await botCall('/api/bot/contacts', { phone });
    expect((await requestWith(phone, settings)).status).toBe(429);
  });

  it('are twice the budget of a day for all numbers, also for fifty that have just written', async () => {
    const phones = await oldContacts(50);
    await parallel(50, (index) => botCall('/api/bot/contacts', { phone: phones[index]! }));
    const answers = await parallel(50, (index) => requestWith(phones[index]!, { CODE_BUDGET_PER_DAY: '7' }));
    expect(statusesOf(answers)).toEqual([...Array(14).fill(200), ...Array(36).fill(503)]);
  });
});

/** How many of so many owners, who have just written, sign in from an address that an attacker uses as well. */
async function ownersThrough(address: string, count: number): Promise<{ withCode: number; signedIn: number }> {
  const outcome = { withCode: 0, signedIn: 0 };
  for (let owner = 0; owner < count; owner += 1) {
    const { phone } = await newContact();
    const { status, body } = await requestOtp(phone, address);
    if (status !== 200) continue;
    outcome.withCode += 1;
    const attempt = { phone, otp: await newestCode(phone), challenge: body.challenge };
    const verified = await call('POST', '/api/auth/verify-otp', { body: attempt, address });
    if (verified.status === 200) outcome.signedIn += 1;
  }
  return outcome;
}

describe('behind one IPv4 address that an attacker uses as well', () => {
  it('thirty owners sign in while the attacker has used up its tries', async () => {
    const address = randomAddress();
    await parallel(70, () => verifyOtp(newPhone(), '123456', address));
    expect((await verifyOtp(newPhone(), '123456', address)).status).toBe(429);
    expect(await ownersThrough(address, 30)).toEqual({ withCode: 30, signedIn: 30 });
    expect((await verifyOtp(newPhone(), '123456', address)).status).toBe(429);
  });

  it('thirty owners sign in while the attacker has used up its requests', async () => {
    const address = randomAddress();
    await parallel(70, () => requestOtp(newPhone(), address));
    expect((await requestOtp(newPhone(), address)).status).toBe(429);
    expect(await ownersThrough(address, 30)).toEqual({ withCode: 30, signedIn: 30 });
  });

  it('a number that has not just written waits with the attacker, so that the refusal shows nothing', async () => {
    const [phone] = await oldContacts(1);
    const address = randomAddress();
    await parallel(60, () => requestOtp(newPhone(), address));
    expect(statusesOf([await requestOtp(phone!, address), await requestOtp(newPhone(), address)])).toEqual([429, 429]);
  });

  it('codes that sign nobody in count, twenty an hour', async () => {
    advanceClock(0);
    const address = randomAddress();
    expect(await ownersThrough(address, 5)).toEqual({ withCode: 5, signedIn: 5 });
    const contacts = await parallel(22, () => newContact());
    const answers = await parallel(22, (index) => requestOtp(contacts[index]!.phone, address));
    expect(statusesOf(answers)).toEqual([...Array(20).fill(200), 429, 429]);
  });

  it('tries with a live challenge do not count for the address, however wrong', async () => {
    const address = randomAddress();
    const wrong = await parallel(13, async () => {
      const { phone } = await newContact();
      const { body } = await requestOtp(phone);
      const attempt = { phone, otp: otherThan(await newestCode(phone)), challenge: body.challenge };
      return parallel(5, () => call('POST', '/api/auth/verify-otp', { body: attempt, address }));
    });
    expect(statusesOf(wrong.flat())).toEqual(Array(65).fill(401));
    const alone = await parallel(61, () => verifyOtp(newPhone(), '123456', address));
    expect(statusesOf(alone)).toEqual([...Array(60).fill(401), 429]);
  });

  it('a try with a challenge that is not live counts for the address', async () => {
    const address = randomAddress();
    const body = { phone: (await newContact()).phone, otp: '123456', challenge: 'forged' };
    const answers = await parallel(65, () => call('POST', '/api/auth/verify-otp', { body, address }));
    expect(statusesOf(answers)).toEqual([...Array(60).fill(401), ...Array(5).fill(429)]);
  });

  it('requests for a known number count when they send no code', async () => {
    const address = randomAddress();
    const { phone } = await newContact();
    const answers = await parallel(65, () => requestOtp(phone, address));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await requestOtp(newPhone(), address)).status).toBe(429);
  });
});

describe('an IPv6 network of many subnets', () => {
  const inSubnet = (network: string, subnet: number) => `${network}:${subnet}::1`;

  it('may have so many codes an hour, whichever subnet asks', async () => {
    const network = randomNetwork();
    const settings = { LIMIT_CODES_PER_NETWORK: '3/1h' };
    const contacts = await parallel(5, () => newContact());
    const answers = await parallel(5, (index) =>
      requestWith(contacts[index]!.phone, settings, inSubnet(network, index)),
    );
    expect(statusesOf(answers)).toEqual([200, 200, 200, 429, 429]);
    const { phone } = contacts[answers.findIndex(({ status }) => status === 429)]!;
    expect((await requestWith(phone, settings, inSubnet(randomNetwork(), 1))).status).toBe(200);
  });

  it('may ask so many times an hour', async () => {
    const network = randomNetwork();
    const settings = { LIMIT_CODE_REQUESTS_PER_NETWORK: '3/1h' };
    const answers = await parallel(5, (index) => requestWith(newPhone(), settings, inSubnet(network, index)));
    expect(statusesOf(answers)).toEqual([200, 200, 200, 429, 429]);
  });

  it('may try so many codes in five minutes', async () => {
    const network = randomNetwork();
    const settings = { LIMIT_TRIES_PER_NETWORK: '3/5m' };
    const answers = await parallel(5, (index) => {
      const body = { phone: newPhone(), otp: '123456' };
      return call('POST', '/api/auth/verify-otp', { body, settings, address: inSubnet(network, index) });
    });
    expect(statusesOf(answers)).toEqual([401, 401, 401, 429, 429]);
  });
});

const reportContact = (phone: string, id?: string) => botCall('/api/bot/contacts', { phone }, id);

async function lockOut(phone: string): Promise<string> {
  const otp = await tryTwentyTimes({ phone, address: randomAddress() });
  expect((await requestOtp(phone)).status).toBe(429);
  return otp;
}

describe('a contact that the bot reports', () => {
  it('clears the limits on codes and wrong tries, so the owner signs in at once', async () => {
    const { phone } = await newContact();
    await lockOut(phone);
    await reportContact(phone);
    expect(await requestOtp(phone)).toMatchObject({ status: 200, body: { success: true } });
    expect((await verifyOtp(phone, await newestCode(phone))).status).toBe(200);
  });

  it('clears the 30 seconds between two codes', async () => {
    const { phone } = await newContact();
    await requestOtp(phone);
    expect((await requestOtp(phone)).status).toBe(429);
    await reportContact(phone);
    expect((await requestOtp(phone)).status).toBe(200);
  });

  it('does not make an invalid code valid again', async () => {
    const { phone } = await newContact();
    const dead = await lockOut(phone);
    await reportContact(phone);
    expect(await verifyOtp(phone, dead)).toMatchObject({ status: 401, body: { code: 'invalid_code' } });
  });

  it('clears nothing when it is sent again under its id', async () => {
    const { phone } = await newContact();
    const id = crypto.randomUUID();
    await reportContact(phone, id);
    await lockOut(phone);
    expect((await reportContact(phone, id)).status).toBe(200);
    expect((await requestOtp(phone)).status).toBe(429);
  });

  it('clears the limits of its own number alone', async () => {
    const [victim, other] = [await newContact(), await newContact()];
    await requestOtp(victim.phone);
    await reportContact(other.phone);
    expect((await requestOtp(victim.phone)).status).toBe(429);
  });

  it('lets the owner sign in while fifty callers attack the number', async () => {
    const { phone } = await newContact();
    await lockOut(phone);
    await reportContact(phone);
    expect((await requestOtp(phone)).status).toBe(200);
    const otp = await newestCode(phone);
    const [one, other] = [randomAddress(), randomAddress()];
    await parallel(50, (index) => (index % 2 ? requestOtp(phone, one) : verifyOtp(phone, otherThan(otp), other)));
    await reportContact(phone);
    expect((await requestOtp(phone)).status).toBe(200);
    expect((await verifyOtp(phone, await newestCode(phone))).status).toBe(200);
  });
});

describe('the spelling of WhatsApp', () => {
  const digits = () => newPhone().slice(-7);

  it('is kept when a later report leaves it out, and codes go to that very id', async () => {
    const salt = digits();
    const [spelledByWhatsapp, dialled] = [`+5215530${salt}`.slice(0, 14), `+525530${salt}`.slice(0, 13)];
    await botCall('/api/bot/contacts', { phone: dialled, whatsappId: spelledByWhatsapp.slice(1) });
    await botCall('/api/bot/contacts', { phone: dialled });
    await requestOtp(dialled);
    expect(await sandbox.messages(spelledByWhatsapp)).toHaveLength(1);
    expect(await sandbox.messages(dialled)).toHaveLength(0);
  });

  it('is refused when it is another number, whatever its form', async () => {
    const [{ phone }, attacker] = [await newContact(), newPhone()];
    for (const whatsappId of [attacker.slice(1), `${phone.slice(1)}0`, phone.slice(2)]) {
      const { status, body } = await botCall('/api/bot/contacts', { phone, whatsappId });
      expect([status, body.code, body.issues], whatsappId).toEqual([
        400,
        'invalid_field',
        [{ path: 'whatsappId', message: 'whatsappId must be a spelling of the same number' }],
      ]);
    }
    const letters = await botCall('/api/bot/contacts', { phone, whatsappId: 'US.123' });
    expect([letters.status, letters.body.issues[0].path]).toEqual([400, 'whatsappId']);
    await requestOtp(phone);
    expect(await sandbox.messages(phone)).toHaveLength(1);
  });

  it('is ignored when the stored one is another number', async () => {
    const [{ phone }, attacker] = [await newContact(), newPhone()];
    const args = [attacker.slice(1), phone];
    await database.execute({ sql: 'update users set whatsapp_id = ? where phone = ?', args });
    expect((await requestOtp(phone)).status).toBe(200);
    expect(await sandbox.messages(attacker)).toEqual([]);
    expect((await verifyOtp(phone, await newestCode(phone))).status).toBe(200);
  });

  it('follows a later report that names another one', async () => {
    const salt = digits();
    const [first, later] = [`+5411235${salt}`.slice(0, 13), `+54911235${salt}`.slice(0, 14)];
    await botCall('/api/bot/contacts', { phone: first, whatsappId: first.slice(1) });
    await botCall('/api/bot/contacts', { phone: first, whatsappId: later.slice(1) });
    await requestOtp(first);
    expect(await sandbox.messages(later)).toHaveLength(1);
  });
});

/** A stub of the rate limiter that refuses some keys and records all. */
function platform(refused: string[]) {
  const asked: string[] = [];
  const limiter = (name: string) => ({
    limit: async ({ key }: { key: string }) => {
      asked.push(`${name} ${key}`);
      return { success: !refused.includes(key) };
    },
  });
  return { asked, env: { RATE_LIMITER: limiter('address'), NETWORK_RATE_LIMITER: limiter('network') } };
}

const limit = (env: object, address: string) => limitByAddress({ env, address } as unknown as BaseContext);

it('counts an IPv6 by its /64, and by its /48 in a limiter with a higher allowance', async () => {
  const { asked, env } = platform([]);
  await limit(env, '2001:db8:1:2::/64');
  expect(asked).toEqual(['address 2001:db8:1:2::/64', 'network 2001:db8:1::/48']);
});

it('counts an IPv4 by itself alone', async () => {
  const { asked, env } = platform([]);
  await limit(env, '203.0.113.9');
  expect(asked).toEqual(['address 203.0.113.9']);
});

it.each(['2001:db8:1:2::/64', '2001:db8:1::/48'])('refuses a call when %s is over its allowance', async (key) => {
  const { env } = platform([key]);
  await expect(limit(env, '2001:db8:1:2::/64')).rejects.toMatchObject({ errorName: 'rateLimited' });
  await expect(limit(env, '2001:db8:9:2::/64')).resolves.toBeUndefined();
});
