import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/libsql/web';
import { Stripe } from 'stripe';
import type { PlanId } from '../../worker/contract/plans.ts';
import { stripeOptions } from '../../worker/billing/stripe-client.ts';
import { freePort } from '../product/machine.ts';
import { startProduct } from '../product/start-product.ts';
import { addresses, refreshVars } from '../product/vars.ts';
import type { Person } from './person.ts';
import type { Figures } from './records.ts';
import type { Answer, Json, Options, Site } from './site.ts';

/** The whole product, with access to its database and its local services. */
export type Rig = Awaited<ReturnType<typeof startRig>>;

/** One per run, so that concurrent runs do not collide: the database, the Durable Objects and the Worker's log. */
const stateDir = fileURLToPath(new URL(`../../.wrangler/test-faults/${process.pid}`, import.meta.url));

/** Starts the product as `npm run dev` does, on its own ports and state, which are removed when the process ends. */
export async function startRig(signal: AbortSignal) {
  process.once('exit', () => rmSync(stateDir, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(stateDir, { recursive: true });
  const ports = { port: await freePort(0, 'PORT'), sandboxPort: await freePort(0, 'SANDBOX_PORT') };
  const varsFile = `${stateDir}/vars`;
  const vars = refreshVars(varsFile, addresses(ports.port, ports.sandboxPort));
  const log = (line: string) => appendFileSync(`${stateDir}/worker.log`, `${line}\n`);
  const product = await startProduct({ ...ports, stateDir, varsFile, build: false, signal, log, logRequests: true });
  // Through the same address to which the faults apply.
  const connection = { url: vars.TURSO_DATABASE_URL!, authToken: vars.TURSO_AUTH_TOKEN! };
  const database = drizzle({ connection });
  // Records the type and phone of every event that is inserted into the outbox.
  await database.run('create table outbox_history (seq integer primary key, phone text, type text)');
  await database.run(`create trigger record_outbox after insert on outbox begin
    insert into outbox_history values (new.seq, new.phone, new.body ->> '$.type'); end`);
  const stripe = new Stripe(vars.STRIPE_SECRET_KEY!, stripeOptions(vars.STRIPE_API_BASE!));
  const prices = (await stripe.prices.list({ limit: 100, active: true })).data;
  /** The plan of each price at the local Stripe. */
  const tiers = new Map(
    prices.flatMap(({ id, lookup_key: key }) => (key ? [[id, key.replace(/_weekly$/, '') as PlanId] as const] : [])),
  );

  /** A control call of the local services (`tests/sandbox/services.ts`). */
  async function control<Result = Json>(method: string, path: string, body?: object): Promise<Result> {
    const init = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const response = await fetch(product.sandboxUrl + path, { method, ...init });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return response.json() as Promise<Result>;
  }

  async function close(): Promise<void> {
    database.$client.close();
    await product.close();
  }
  return { product, stateDir, botSecret: vars.BOT_WEBHOOK_SECRET!, database, tiers, control, close };
}

/** A fault of a local service (`tests/sandbox/fault-injection.ts`). */
export type Fault = { status?: number; delayMs?: number; drop?: true; cut?: true };

/** The state that actors and invariants share. */
export type World = {
  rig: Rig;
  site: Site;
  figures: Figures;
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

/** One call of a user as `untilTaken` repeats it; a status that is not expected is a violation. */
export async function callUntilTaken(
  world: World,
  person: Person,
  [kind, method, path]: [kind: string, method: string, path: string],
  { expected = [200], ...given }: Options & { expected?: number[] } = {},
): Promise<Answer> {
  const options = { token: person.token, ...given };
  const answer = await untilTaken(world, person, () => world.site.call(kind, method, path, options));
  const { status, code } = answer;
  if (!expected.includes(status)) world.seen.push(`${person.phone}: "${kind}" was answered ${code ?? status}`);
  return answer;
}

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
  await sleep(ms, undefined, { signal: givenUp }).catch(() => {
    throw new Stuck();
  });
}
