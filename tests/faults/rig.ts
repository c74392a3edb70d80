import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createClient, type Client } from '@libsql/client/web';
import { addresses } from '../sandbox/addresses.ts';
import { freePort } from '../sandbox/free-port.ts';
import { startProduct, type Product } from '../sandbox/product.ts';
import { refreshVars } from '../sandbox/vars.ts';
import type { Json } from './site.ts';

/** The whole product, with a look inside and a hand on its local services. */
export type Rig = {
  product: Product;
  botSecret: string;
  /** The database, through the same door that the faults break. */
  database: Client;
  /** The plan of each price at the local Stripe. */
  tiers: Map<string, string>;
  /** A control call of the local services, as CONTRACT.md lists them. */
  control: <Answer = Json>(method: string, path: string, body?: object) => Promise<Answer>;
  close: () => Promise<void>;
};

/** One per run, so that two runs do not meet. */
const stateDir = fileURLToPath(new URL(`../../.wrangler/test-faults/${process.pid}`, import.meta.url));
/** Time is short and answers get lost: a number may ask for a code again soon, and often. */
const limits = 'LIMIT_CODES_PER_NUMBER=1/2s 500/1h\n';

/** Starts the product as `npm run dev` does, on ports and state of its own, which go when it is closed. */
export async function startRig(signal: AbortSignal): Promise<Rig> {
  const [port, sandboxPort] = [await freePort(0, 'PORT'), await freePort(0, 'SANDBOX_PORT')];
  const varsFile = `${stateDir}/vars`;
  mkdirSync(stateDir, { recursive: true });
  const clear = () => rmSync(stateDir, { recursive: true, force: true, maxRetries: 5 });
  try {
    writeFileSync(varsFile, limits);
    const vars = refreshVars(varsFile, addresses(port, sandboxPort));
    const product = await startProduct({ port, sandboxPort, stateDir, varsFile, build: false, signal });
    const database = createClient({ url: vars.TURSO_DATABASE_URL!, authToken: vars.TURSO_AUTH_TOKEN! });
    const close = async () => {
      database.close();
      await product.close();
      clear();
    };
    const control = controlOf(product.sandboxUrl);
    const tiers = await tiersAt(product.sandboxUrl, vars.STRIPE_SECRET_KEY!);
    return { product, botSecret: vars.BOT_WEBHOOK_SECRET!, database, tiers, control, close };
  } catch (error) {
    clear();
    throw error;
  }
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
