import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client } from '@libsql/client/web';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, waitUntilReady } from '../product/machine.ts';
import { startProduct, type Product } from '../product/start-product.ts';
import { refreshVars } from '../product/vars.ts';
import { leave, profileOf, useEverything } from './use-everything.ts';

const phone = '+15557654321';

let stateDir: string;
let product: Product;
let database: Client;
beforeAll(async () => {
  stateDir = mkdtempSync(join(tmpdir(), 'solace-rollback-'));
  const varsFile = join(stateDir, 'vars');
  const [port, sandboxPort] = [await freePort(0, 'PORT'), await freePort(0, 'SANDBOX_PORT')];
  product = await startProduct({ port, sandboxPort, stateDir, varsFile, build: false });
  const { TURSO_DATABASE_URL: url = '', TURSO_AUTH_TOKEN: authToken = '' } = refreshVars(varsFile, {});
  database = createClient({ url, authToken });
});
afterAll(async () => {
  database.close();
  await product.close();
  rmSync(stateDir, { recursive: true, force: true });
});

async function tables(): Promise<string[]> {
  const { rows } = await database.execute(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like '\\_\\_%' escape '\\'",
  );
  return rows.flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
}

/** Each isolate prepares its statements once: the Worker starts on the schema that it finds. */
async function restart(): Promise<void> {
  await product.restartWorker();
  await waitUntilReady([`${product.siteUrl}/api/health`], product.ended);
}

/** The next version's migration, with everything that the rule of migrations.test.ts allows, on every table. */
async function migrateFurther(): Promise<number> {
  const names = await tables();
  for (const name of names) {
    await database.execute(`alter table ${name} add later_text text`);
    await database.execute(`alter table ${name} add later_number integer default 7 not null`);
    await database.execute(`create index ${name}_later on ${name} (later_text)`);
  }
  await database.execute('create table later (id text primary key not null, user_id text)');
  return names.length;
}

/** One after the other: a person of the version before, then the schema of the next one under the same Worker. */
describe('after a rollback, a version meets the schema of the next one', () => {
  let token: string;

  it('works before it, on its own schema', async () => {
    const used = await useEverything(product, phone);
    token = used.token;
    expect(used.troubles).toEqual([]);
  });

  it('keeps sessions, plans and conversations, and serves new people', async () => {
    expect(await migrateFurther()).toBeGreaterThan(10);
    await restart();
    const { status, body } = await profileOf(product, token);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { profile: { metadata: { subscriptionTier: 'premium', subscriptionStatus: 'active' } } },
    });
    expect((await useEverything(product, '+15557654322')).troubles).toEqual([]);
    expect(await leave(product, token)).toEqual([]);
  });

  it('would fail on a column that is gone: such a migration waits until no version uses it', async () => {
    await database.execute('alter table users rename column tier to plan');
    await restart();
    const { troubles } = await useEverything(product, '+15557654323');
    expect(troubles).toContainEqual(expect.stringMatching(/^POST .*create-subscription-update-session: 500/));
  });
});
