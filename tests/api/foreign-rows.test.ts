import { describe, expect, it } from 'vitest';
import { botCall, call } from './support/api.ts';
import { newWriter, textsOf } from './support/chat.ts';
import { beginChange, verifyChange } from './support/codes.ts';
import { linkedTo, newBusinessUserId } from './support/contacts.ts';
import { getMe, type Person, userOf } from './support/person.ts';
import { run } from './support/sandbox.ts';

/*
 * A row that somebody has put under another account stays nobody's, whatever that account does by its own right.
 */

async function newNamed() {
  const [person, businessUserId] = [await newWriter(), newBusinessUserId()];
  const { phone } = person;
  await botCall('/api/bot/contacts', { phone, businessUserId });
  const { body } = await botCall('/api/bot/trials', { phone });
  const trialToken = new URL(body.url).searchParams.get('token')!;
  return { ...person, businessUserId, trialToken };
}

const giveAlias = (businessUserId: string, to: Person) =>
  run(
    `update aliases set user_id = ? where kind = 'business' and value = ?`,
    userOf(to.token),
    businessUserId,
  );

const giveLinks = (of: Person, to: Person) =>
  run('update trial_links set user_id = ? where user_id = ?', userOf(to.token), userOf(of.token));

async function changeNumber({ token }: Person): Promise<string> {
  const begun = await beginChange(token);
  expect((await verifyChange(token, begun)).status).toBe(200);
  return begun.phone;
}

const openTrial = (trialToken: string) =>
  call('POST', '/auth/verify-trial-token', { body: { trialToken } });

const messageFor = (businessUserId: string) =>
  botCall('/api/bot/messages', { businessUserId, id: crypto.randomUUID(), text: 'For your eyes' });

const usedBy = async ({ token }: Person) =>
  (await getMe(token)).body.profile.messagesUsedThisPeriod as number;

describe('a change of the number', () => {
  it('makes no id of somebody else valid, who gets it back by writing', async () => {
    const [victim, thief] = [await newNamed(), await newWriter()];
    const { phone, businessUserId } = victim;
    await giveAlias(businessUserId, thief);
    const moved = await changeNumber(thief);

    const usage = await botCall('/api/bot/usage', { businessUserId });
    expect(usage.body).toMatchObject({ allowed: false });
    expect((await messageFor(businessUserId)).status).toBe(404);
    expect([await textsOf(thief), await usedBy(thief)]).toEqual([[], 0]);
    expect(await linkedTo(moved)).toEqual([]);

    await botCall('/api/bot/contacts', { phone, businessUserId });
    expect(await linkedTo(phone)).toEqual([[businessUserId, 'contact']]);
    expect((await messageFor(businessUserId)).status).toBe(200);
    expect(await textsOf(victim)).toEqual(['For your eyes']);
  });

  it('makes no id valid that a thief has put under the account', async () => {
    const [victim, thief] = [await newWriter(), await newNamed()];
    await giveAlias(thief.businessUserId, victim);
    const moved = await changeNumber(victim);

    expect((await messageFor(thief.businessUserId)).status).toBe(404);
    expect(await linkedTo(moved)).toEqual([]);
    expect([await textsOf(victim), await usedBy(victim)]).toEqual([[], 0]);
  });

  it('keeps the own id and the own trial link', async () => {
    const person = await newNamed();
    const moved = await changeNumber(person);

    expect(await linkedTo(moved)).toEqual([[person.businessUserId, 'earlier-number']]);
    expect((await messageFor(person.businessUserId)).status).toBe(200);
    expect((await openTrial(person.trialToken)).status).toBe(200);
  });

  it('makes no trial link of somebody else valid, on either side', async () => {
    const [mover, other] = [await newWriter(), await newNamed()];
    await giveLinks(other, mover);
    await changeNumber(mover);

    expect((await openTrial(other.trialToken)).body.token).toBeUndefined();
    const { rows } = await run('select * from trial_links where user_id = ?', userOf(mover.token));
    expect(rows).toEqual([]);
  });
});
