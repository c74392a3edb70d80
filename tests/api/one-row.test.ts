import { getTableName } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { afterEach, describe, expect, it } from 'vitest';
import { run, sandbox } from './support/sandbox.ts';
import {
  apply,
  isExcused,
  newHeir,
  newSim,
  putBack,
  type Scope,
  stage,
  tables,
  tampersOf,
  waitAnew,
  wordsOf,
} from './support/tampers.ts';
import { inherit, leaksOf, leaksToHeir, readAll } from './support/thief.ts';

/*
 * Whoever may write any one row of the database reads nothing of anybody. Every column that names a person is set to the
 * value of a thief, and the other way round, and every column of fixed words to each of them; then the thief signs in, also
 * as the holder of the victim's contested number, reads everything, writes, and the bot is told.
 */

afterEach(() => sandbox.faults({ bot: null }));

/** Tables that hold nothing about a person for longer than a transaction, or nothing at all. */
const empty = new Set([
  'decisions',
  'daily_codes',
  'daily_totals',
  'stripe_events',
  'left_weeks',
  // Keyed hashes, and an address that is bound to its statement (receipt-mail.test.ts).
  'receipt_mails',
]);
/** They fill by what no stage does: a token, a trial, a clearing, a claim. */
const unstaged = new Set(['used_tokens', 'used_trials', 'chat_erasures', 'claims']);
const isStaged = (name: string) => !empty.has(name) && !unstaged.has(name);

describe('whoever writes one row reads nothing of anybody', () => {
  const named = tables.map((table) => [getTableName(table), table] as const);

  const leaksNothing =
    (scope: Scope) =>
    async (...[name, table]: (typeof named)[number]) => {
      const staged = await stage();
      const keptOf = (each: SQLiteTable) => [
        ...staged.victim.rows(each),
        ...staged.thief.rows(each),
      ];
      const kept = keptOf(table);
      if (isStaged(name)) expect(kept).not.toEqual([]);
      const found: string[] = [];
      const { length } = tampersOf(table, staged, scope);
      for (let index = 0; index < length; index += 1) {
        const fresh = { ...staged, sim: newSim(), heir: newHeir(staged.victim) };
        const tamper = tampersOf(table, fresh, scope)[index]!;
        const where = `${name}.${tamper.column.name} := ${tamper.value}`;
        await sandbox.faults({ bot: { status: 503 } });
        await waitAnew(fresh, index);
        const refusal = await apply(tamper, fresh);
        if (refusal !== null && !isExcused(refusal, tamper, kept))
          found.push(`${where}: not tried, ${refusal}`);
        const isOfWord = scope === 'exchanges' && wordsOf(tamper.column).length > 0;
        const attempt = isOfWord ? leaksToHeir : leaksOf;
        const leaks = refusal === null ? await attempt(fresh) : [];
        for (const leak of leaks) found.push(`${where}: ${leak}`);
        await putBack(table, kept);
      }
      expect(found).toEqual([]);
    };

  /** Whose rows open most: accounts. `foreign-rows.test.ts` has their names. */
  const isDoor = ([name]: (typeof named)[number]) => name === 'users';
  const staged = named.filter(([name]) => isStaged(name));
  const narrow = leaksNothing('exchanges');
  it.each(staged.filter(isDoor))('%s', narrow);
  it.each(staged.filter((each) => !isDoor(each)))('%s, too', { tags: 'full' }, narrow);
  it.each(named)('%s, every row and name', { tags: 'full' }, leaksNothing('renamings, too'));

  it('is no excuse: without a change everybody reads what is their own', async () => {
    const staged = await stage();
    const own = (await readAll(staged.thief.token)).join();
    for (const text of staged.thief.texts) expect(own).toContain(text);
    expect(await leaksOf(staged)).toEqual([]);
    // Nor does the holder of a number who changes two.
    const { userId, texts } = staged.victim;
    await run("update aliases set proof = 'contact' where user_id = ?", userId);
    await run('update users set is_contested = 0 where id = ?', userId);
    const inherited = (await inherit(newHeir(staged.victim))).join();
    for (const text of texts.slice(0, 3)) expect(inherited).toContain(text);
  });
});
