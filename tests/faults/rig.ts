import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createClient, type Client } from '@libsql/client/web';
import { addresses, refreshVars } from '../product/vars.ts';
import { freePort } from '../product/machine.ts';
import { startProduct, type Product } from '../product/start-product.ts';
import type { Json } from './site.ts';

/** The whole product, with access to its database and its local services. */
export type Rig = {
  product: Product;
  botSecret: string;
  /** The database, through the same address to which the faults apply. */
  database: Client;
  /** The plan of each price at the local Stripe. */
  tiers: Map<string, string>;
  /** Where the database, the Durable Objects and the Worker's log are stored. */
  stateDir: string;
  /** A control call of the local services (`tests/sandbox/services.ts`). */
  control: <Answer = Json>(method: string, path: string, body?: object) => Promise<Answer>;
  close: () => Promise<void>;
};

/** One per run, so that concurrent runs do not collide. */
const stateDir = fileURLToPath(new URL(`../../.wrangler/test-faults/${process.pid}`, import.meta.url));

/** Starts the product as `npm run dev` does, on its own ports and state, which are removed on closing. */
export async function startRig(signal: AbortSignal): Promise<Rig> {
  const [port, sandboxPort] = [await freePort(0, 'PORT'), await freePort(0, 'SANDBOX_PORT')];
  const varsFile = `${stateDir}/vars`;
  mkdirSync(stateDir, { recursive: true });
  const clear = () => rmSync(stateDir, { recursive: true, force: true, maxRetries: 5 });
  try {
    const vars = refreshVars(varsFile, addresses(port, sandboxPort));
    const log = (line: string) => appendFileSync(`${stateDir}/worker.log`, `${line}\n`);
    const ports = { port, sandboxPort };
    const product = await startProduct({ ...ports, stateDir, varsFile, build: false, signal, log, logRequests: true });
    const database = createClient({ url: vars.TURSO_DATABASE_URL!, authToken: vars.TURSO_AUTH_TOKEN! });
    const close = async () => {
      database.close();
      await product.close();
      clear();
    };
    const control = controlOf(product.sandboxUrl);
    const tiers = await tiersAt(product.sandboxUrl, vars.STRIPE_SECRET_KEY!);
    await recordOutbox(database);
    return { product, stateDir, botSecret: vars.BOT_WEBHOOK_SECRET!, database, tiers, control, close };
  } catch (error) {
    clear();
    throw error;
  }
}

/** Records the type and phone of every event that is inserted into the outbox. */
async function recordOutbox(database: Client): Promise<void> {
  await database.execute('create table outbox_history (seq integer primary key, phone text, type text)');
  await database.execute(`create trigger record_outbox after insert on outbox begin
    insert into outbox_history values (new.seq, new.phone, new.body ->> '$.type'); end`);
}

function controlOf(sandboxUrl: string): Rig['control'] {
  return async (method, path, body) => {
    const init = body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {};
    const response = await fetch(sandboxUrl + path, { method, ...init });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return response.json() as Promise<never>;
  };
}

async function tiersAt(sandboxUrl: string, key: string): Promise<Map<string, string>> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${sandboxUrl}/v1/prices?limit=100&active=true`, { headers });
  const { data } = (await response.json()) as { data: { id: string; lookup_key: string | null }[] };
  return new Map(data.flatMap(({ id, lookup_key: key }) => (key ? [[id, key.replace(/_weekly$/, '')]] : [])));
}
