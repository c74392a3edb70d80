import { describe, expect, it } from 'vitest';
import { botCall, call } from './support/api.ts';
import { buy, complete, profileOf, verify } from './support/buying.ts';
import { runCron } from './support/cron.ts';
import { database } from './support/database.ts';
import { parallel } from './support/parallel.ts';
import { newPerson, type Person } from './support/person.ts';
import { customerOf, stripe } from './support/stripe.ts';

async function onTrial(): Promise<Person> {
  const person = await newPerson();
  const { body } = await botCall('/api/bot/trials', { phone: person.phone, tier: 'premium', days: 3 });
  const trialToken = new URL(body.url).searchParams.get('token');
  await call('POST', '/auth/verify-trial-token', { body: { trialToken } });
  return person;
}

async function waiting(phone: string) {
  const sql = 'select trial_ends_at from users where phone = ?';
  const { rows } = await database.execute({ sql, args: [phone] });
  const { data } = await stripe.subscriptions.list({ customer: await customerOf(phone), status: 'all' });
  return { trialEndsAt: Number(rows[0]!.trial_ends_at), data };
}

describe('a plan chosen during the trial', () => {
  it('waits for its end', async () => {
    const { phone, token } = await onTrial();
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
    const { phone, token } = await onTrial();
    await complete((await buy(token, 'basic')).body.portalUrl);
    const again = await buy(token, 'premium');
    expect(new URL(again.body.portalUrl).pathname).not.toContain('/checkout/');
    const { data } = await waiting(phone);
    expect(data.map(({ status, metadata }) => [status, metadata.tier])).toEqual([['trialing', 'basic']]);
    await database.execute({
      sql: 'update customers set due_at = 0 where stripe_id = ?',
      args: [await customerOf(phone)],
    });
    await runCron();
    expect((await profileOf(token)).metadata.scheduledDowngradeTierId).toBe('basic');
  });
});
