import { describe, expect, it } from 'vitest';
import { botCall, call, parallel, runCron } from './support/api.ts';
import { advanceClock, day, second } from './support/clock.ts';
import { buy, complete, onTrial, profileOf, verify } from './support/buying.ts';
import { externalSession, newContact, newPerson, newPhone } from './support/person.ts';
import { watchDatabase } from './support/requests.ts';
import { costOf } from './support/log.ts';
import { database } from './support/database.ts';
import { customerOf, makeDue, stripe } from './support/stripe.ts';

const activate = (trialToken: string) => call('POST', '/auth/verify-trial-token', { body: { trialToken } });
const askForTrial = (body: object, id?: string) => botCall('/api/bot/trials', body, id);
const tokenOf = (url: string) => new URL(url).searchParams.get('token')!;

async function trialFor(phone: string, details: object = {}): Promise<string> {
  return tokenOf((await askForTrial({ phone, ...details })).body.url);
}

describe('a trial', () => {
  it('opens the session and grants its plan for its days, by the clock', async () => {
    advanceClock(0);
    const { phone } = await newContact();
    const { status, body } = await askForTrial({ phone, tier: 'basic', days: 3 });
    expect(status).toBe(200);
    expect(body.url).toMatch(/^http:\/\/solace\.test\/activate-trial\?token=[\w-]{43,}$/);
    expect(Date.parse(body.expiresAt) - Date.now()).toBe(7 * day);

    const activated = await activate(tokenOf(body.url));
    expect(activated).toMatchObject({ status: 200, body: { success: true, token: expect.any(String) } });
    expect(activated.body.message).toBeUndefined();
    const { token } = activated.body;
    const profile = await profileOf(token);
    expect(profile).toMatchObject({
      isTrial: true,
      metadata: { subscriptionTier: 'basic', subscriptionStatus: 'trialing' },
    });
    expect(Date.parse(profile.metadata.renewalDate) - Date.now()).toBe(3 * day);
    const voice = await botCall('/api/bot/usage', { phone, kind: 'voice', count: 6 });
    expect(voice.body).toMatchObject({ allowed: true, used: 6, limit: 30, tier: 'basic', voice: true });

    advanceClock(3 * day);
    expect(await profileOf(token)).toMatchObject({
      isTrial: false,
      metadata: { subscriptionTier: 'free', renewalDate: null },
    });
    expect((await botCall('/api/bot/entitlements', { phone })).body).toMatchObject({
      allowed: false,
      used: 6,
      limit: 5,
    });
  });

  it('is premium for a week unless the bot says otherwise', async () => {
    advanceClock(0);
    const { phone } = await newContact();
    const { body } = await activate(await trialFor(phone));
    const renewalDate = new Date(Date.now() + 7 * day).toISOString();
    expect((await profileOf(body.token)).metadata).toMatchObject({ subscriptionTier: 'premium', renewalDate });
  });

  it('starts once for fifty parallel callers of one link', async () => {
    const { phone } = await newContact();
    const link = await trialFor(phone);
    const answers = await parallel(50, () => activate(link));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status !== 200);
    for (const { status, body } of refused)
      expect([status, body.success]).toEqual([expect.toBeOneOf([401, 409]), false]);
  });

  it('is one for a number, ever, also with two links and after the account was deleted', async () => {
    const { phone } = await newContact();
    const [first, second_] = [await trialFor(phone), await trialFor(phone)];
    const answers = await Promise.all([activate(first), activate(second_)]);
    expect(answers.map(({ status }) => status)).toEqual(expect.arrayContaining([200, 409]));
    const spent = { success: false, code: 'trial_spent', message: 'This number has already had its trial.' };
    expect(await askForTrial({ phone })).toMatchObject({ status: 409, body: spent });
    const { token } = answers.find(({ status }) => status === 200)!.body;
    await call('DELETE', '/api/user/me', { token });
    await newContact(phone);
    expect(await askForTrial({ phone })).toMatchObject({ status: 409, body: spent });
  });

  it('returns the same response to a replay after the account was deleted', async () => {
    const { phone, token } = await newPerson();
    const id = crypto.randomUUID();
    const first = await askForTrial({ phone }, id);
    await call('DELETE', '/api/user/me', { token });
    expect(await askForTrial({ phone }, id)).toMatchObject({ status: 200, body: first.body });
    expect((await askForTrial({ phone, days: 2 }, id)).status).toBe(409);
    expect((await askForTrial({ phone })).status).toBe(404);
  });

  it('returns the same link to a replay', async () => {
    const { phone } = await newContact();
    const id = crypto.randomUUID();
    const answers = await parallel(50, () => askForTrial({ phone }, id));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it('is refused for a number that never wrote', async () => {
    expect(await askForTrial({ phone: newPhone() })).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('is refused with an unknown link, and with one that is older than its seven days', async () => {
    const { phone } = await newContact();
    const link = await trialFor(phone);
    const invalid = { success: false, code: 'invalid_token', message: 'Invalid or expired token' };
    expect(await activate('0'.repeat(64))).toMatchObject({ status: 401, body: invalid });
    expect(await activate(`${link}x`)).toMatchObject({ status: 401, body: invalid });
    advanceClock(7 * day + second);
    expect(await activate(link)).toMatchObject({ status: 401, body: invalid });
  });

  it('writes nothing for an unknown token', async () => {
    const mark = `unknown-${crypto.randomUUID()}`;
    const requests = watchDatabase('trial_links');
    const result = await activate(mark);
    expect([result.status, costOf(result)]).toEqual([401, 1]);
    expect(requests.length).toBeGreaterThan(0);
    expect(requests.filter(({ text }) => /insert|update|delete/i.test(text))).toEqual([]);
  });

  it('does not start the week again: the count goes on', async () => {
    const { phone, token } = await newPerson();
    await botCall('/api/bot/usage', { phone, count: 4 });
    await activate(await trialFor(phone));
    expect((await profileOf(token)).messagesUsedThisPeriod).toBe(4);
    expect((await profileOf(await externalSession(phone))).isTrial).toBe(true);
  });
});

/** The end of a user's trial (unix ms), and the subscriptions that wait for it. */
async function waiting(phone: string) {
  const sql = 'select trial_ends_at from users where phone = ?';
  const { rows } = await database.execute({ sql, args: [phone] });
  const { data } = await stripe.subscriptions.list({ customer: await customerOf(phone), status: 'all' });
  return { trialEndsAt: Number(rows[0]!.trial_ends_at), data };
}

describe('a plan chosen during the trial', () => {
  it('waits for its end', async () => {
    const { phone, token } = await onTrial('premium');
    const session = await complete((await buy(token, 'basic')).body.portalUrl);
    expect((await verify(token, session)).body).toEqual({ success: true, tierUpdated: false, newTier: 'premium' });
    await parallel(5, () => verify(token, session));
    const { trialEndsAt, data } = await waiting(phone);
    expect(data).toHaveLength(1);
    expect(data[0]).toMatchObject({ status: 'trialing', trial_end: Math.floor(trialEndsAt / 1000) });
    expect((await profileOf(token)).metadata).toMatchObject({
      subscriptionTier: 'premium',
      subscriptionStatus: 'trialing',
      renewalDate: new Date(trialEndsAt).toISOString(),
      scheduledDowngradeTierId: 'basic',
    });
  });

  it('is kept when its user asks for a plan again before the saved card is known', async () => {
    const { phone, token } = await onTrial('premium');
    await complete((await buy(token, 'basic')).body.portalUrl);
    const again = await buy(token, 'premium');
    expect(new URL(again.body.portalUrl).pathname).not.toContain('/checkout/');
    const { data } = await waiting(phone);
    expect(data.map(({ status, metadata }) => [status, metadata.tier])).toEqual([['trialing', 'basic']]);
    await makeDue(await customerOf(phone));
    await runCron();
    expect((await profileOf(token)).metadata.scheduledDowngradeTierId).toBe('basic');
  });
});
