import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createClient, type Client } from '@libsql/client/web';
import { addresses, refreshVars } from '../product/vars.ts';
import { freePort } from '../product/machine.ts';
import { startProduct, type Product } from '../product/start-product.ts';
import type { Json, Answer, Site } from './site.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures, Latencies, Timeline } from './records.ts';
import type { Person } from './person.ts';

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

/** A fault of a local service (`tests/sandbox/fault-injection.ts`). */
export type Fault = { status?: number; delayMs?: number; drop?: true; cut?: true };

/** The state that actors and invariants share. */
export type World = {
  rig: Rig;
  site: Site;
  figures: Figures;
  latencies: Latencies;
  timeline: Timeline;
  people: Person[];
  /** Part of every text in the conversations: it must be found in no file and no log. */
  marker: string;
  /** Violations seen during the run. */
  seen: string[];
  /** The fault of a bot that is down; no other fault replaces it. */
  botOutage: Fault | null;
  /** Aborted when no actor may start anything new. */
  closing: AbortSignal;
  /** Aborted when actors that still wait count as stuck. */
  givenUp: AbortSignal;
};

/** An actor still waited at the end of the run. */
export class Stuck extends Error {}

const longestWaitMs = 3000;

/** Repeats a call until its result is not temporary: no response, 429 or a server error are. */
export async function untilTaken(world: World, person: Person, attempt: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await attempt();
    if (!isNotNow(answer)) return answer;
    await pause(world, Math.min(answer.retryAfter * 1000, longestWaitMs) + person.choices.between(100, 600));
  }
}

/** One call of a user as `untilTaken` repeats it. */
export const callUntilTaken = (world: World, person: Person, ...call: Parameters<Site['call']>): Promise<Answer> =>
  untilTaken(world, person, () => world.site.call(...call));

/**
 * As `untilTaken`, for a call of one of several tabs: if the user ends its session in another tab, it is repeated in the
 * next session. A 401 in a session that the user has not ended is returned.
 */
export async function untilTakenBySession(
  world: World,
  person: Person,
  attempt: (token: string) => Promise<Answer>,
): Promise<Answer> {
  for (;;) {
    const token = person.token!;
    const answer = await untilTaken(world, person, () => attempt(token));
    if (answer.status !== 401 || person.left || person.sessions.has(token)) return answer;
    while (person.token === token) await pause(world, person.choices.between(100, 600));
  }
}

export const isNotNow = ({ status }: Answer): boolean => status === 0 || status === 429 || status >= 500;

/** Waits so many ms, or until `closing` is aborted. */
export async function untilClosing({ closing }: World, ms: number): Promise<void> {
  await sleep(ms, undefined, { signal: closing }).catch(() => undefined);
}

/** Waits so many ms; throws `Stuck` if `givenUp` is aborted. */
export async function pause({ givenUp }: World, ms: number): Promise<void> {
  if (givenUp.aborted) throw new Stuck();
  await sleep(ms, undefined, { signal: givenUp }).catch(() => {
    throw new Stuck();
  });
}
