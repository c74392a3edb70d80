import { getTableName } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { describe, expect, it } from 'vitest';
import * as schema from '../../drizzle/schema.ts';
import { botCall, parallel } from './support/api.ts';
import { newWriter, write } from './support/chat.ts';
import { advanceClock, minute } from './support/clock.ts';
import {
  beginChange,
  claimNumber,
  otherThan,
  redeem,
  reportStatus,
  requestCode,
  verifyChange,
} from './support/codes.ts';
import { contact, linkedTo, newBusinessUserId, newPhone, usageOf } from './support/contacts.ts';
import { newPerson, userOf } from './support/person.ts';
import { run, sandbox } from './support/sandbox.ts';
import { done, newHeir, putBack, type Row, rowsOf, stage, tables } from './support/tampers.ts';
import { inherit, readAll, signIn } from './support/thief.ts';

it('counts nothing by an id whose row names another account, for fifty calls at once', async () => {
  const [victim, thief, id] = [await newPerson(), await newPerson(), newBusinessUserId()];
  const report = (names: object) => botCall('/api/bot/contacts', names);
  const count = (names: object) => botCall('/api/bot/usage', names);
  const own = newBusinessUserId();
  await Promise.all([
    report({ phone: victim.phone, businessUserId: own }),
    report({ phone: thief.phone, businessUserId: id }),
  ]);
  const rows = 'select used, last_contact_at from users where phone = ?';
  const before = await run(rows, victim.phone);
  await run('delete from aliases where value = ?', own);
  await run('update aliases set user_id = ? where value = ?', userOf(victim.token), id);
  advanceClock(minute);
  const answers = await parallel(50, (index) =>
    (index % 2 ? count : report)({ businessUserId: id }),
  );
  expect(answers.filter(({ body }) => body.allowed || body.known)).toEqual([]);
  expect((await run(rows, victim.phone)).rows).toEqual(before.rows);
});

it('ties the id of a claim to no account of another number, whatever its row names', async () => {
  const [victim, claimed] = [await newPerson(), await claimNumber()];
  expect((await redeem(claimed)).status).toBe(200);
  const { businessUserId, phone } = claimed;
  const own =
    'update claims set user_id = ? where user_id = (select id from users where phone = ?)';
  expect((await run(own, userOf(victim.token), phone)).rowsAffected).toBe(1);

  await reportStatus(phone, {
    status: 'delivered',
    recipient_user_id: businessUserId,
  });
  expect(await linkedTo(victim.phone)).toEqual([]);
  expect((await botCall('/api/bot/usage', { businessUserId })).body.allowed).toBe(false);
  expect(await usageOf(victim.phone)).toMatchObject({ used: 0 });
});

it('gives a code no more tries than its caller has, whatever its row says', async () => {
  const { phone } = await newPerson();
  advanceClock(minute);
  const code = await requestCode(phone);
  const more = 'update codes set tries_left = 1000 where phone = ?';
  const guess = { ...code, otp: otherThan(code.otp) };
  await run(more, phone);
  const wrong = await parallel(50, () => redeem(guess));
  expect(wrong.filter(({ body }) => body.code !== 'code_spent')).toHaveLength(5);
  await run(more, phone);
  expect(await redeem(code)).toMatchObject({ status: 401, body: { code: 'code_spent' } });
});

it('binds number and id alike, whatever calls link and use them at once', async () => {
  const [phone, businessUserId] = [newPhone(), newBusinessUserId()];
  const names = [{ phone }, { businessUserId }, { phone, businessUserId }];
  await parallel(50, (index) =>
    botCall(`/api/bot/${index % 2 ? 'usage' : 'contacts'}`, names[index % 3]!),
  );
  const bound = `select distinct binding_mac from aliases join users on users.id = user_id
    where phone = ? and kind in ('phone', 'business')`;
  expect((await run(bound, phone)).rows).toMatchObject([{ binding_mac: expect.any(String) }]);
  const usedBy = async (body: object) => (await botCall('/api/bot/entitlements', body)).body.used;
  expect(await usedBy({ businessUserId })).toBe(await usedBy({ phone }));
});

describe('the holder of a contested number', () => {
  const ofContest = [schema.users, schema.aliases, schema.identityConflicts, schema.sessions];
  type Owned = { table: SQLiteTable; row: Row };

  async function newContest() {
    const owner = await newWriter();
    const [text, userId] = [`said by ${crypto.randomUUID()}`, userOf(owner.token)];
    const rows = async (): Promise<Owned[]> => {
      const each = ofContest.map(async (table) =>
        (await rowsOf(table))
          .filter((row) => Object.values(row).includes(userId))
          .map((row) => ({ table, row })),
      );
      return (await Promise.all(each)).flat();
    };
    const { phone } = owner;
    await done(contact({ phone, businessUserId: newBusinessUserId() }));
    await done(write(owner.token, text));
    const before = await rows();
    await contact({ phone, businessUserId: newBusinessUserId() });
    return { owner, text, before, contested: await rows() };
  }

  type Contest = Awaited<ReturnType<typeof newContest>>;

  async function expectNothing({ owner, text, contested }: Contest) {
    expect((await inherit(newHeir(owner))).join()).not.toContain(text);
    for (const { table, row } of contested) await putBack(table, [row]);
  }

  it('ends no contest by one row as it was before', async () => {
    const contest = await newContest();
    for (const { table, row } of contest.before) {
      await putBack(table, [row]);
      await expectNothing(contest);
    }
  });

  it('ends no contest by one row that is taken away', async () => {
    const contest = await newContest();
    for (const { table, row } of contest.contested) {
      await run(`delete from ${getTableName(table)} where rowid = ?`, row.row_id);
      await expectNothing(contest);
    }
  });
});

describe('an older row that is put back', () => {
  const ofAccount = ['users', 'aliases'];
  const others = ['sessions', 'trial_links', 'push_subscriptions'];

  const opensNothing = async (name: string) => {
    const table = tables.find((each) => getTableName(each) === name)!;
    const { victim, sim } = await stage();
    const older = victim.rows(table);
    await sandbox.faults({ bot: null });
    await run('delete from rate_limit_events');
    const begun = await beginChange(victim.token);
    expect((await verifyChange(victim.token, begun)).status).toBe(200);
    await putBack(table, older);

    const { phone } = victim;
    const token = await signIn(phone, [{ phone, businessUserId: sim.businessUserId }, { phone }]);
    const seen = (await readAll(token)).join();
    for (const mark of [begun.phone.slice(1), ...victim.texts]) expect(seen).not.toContain(mark);
    // Nor does a session that the change has ended.
    const ended = (await readAll(victim.token)).join();
    if (name === 'sessions') for (const text of victim.texts) expect(ended).not.toContain(text);
  };

  it.each(ofAccount)('of %s opens nothing to the new owner of the number', opensNothing);
  it.each(others)('of %s opens nothing to the new owner, either', { tags: 'full' }, opensNothing);
});
