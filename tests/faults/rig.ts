import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/libsql/web';
import { Stripe } from 'stripe';
import type { PlanId } from '../../worker/contract/plans.ts';
import { stripeOptions } from '../../worker/billing/stripe-client.ts';
import { callJson, messageOf, stopSignal } from '../product/machine.ts';
import { startProduct } from '../product/start-product.ts';
import type { Person } from './person.ts';
import type { Figures } from './records.ts';
import type { Answer, Call, Json, Options, Site } from './site.ts';

export type Rig = Awaited<ReturnType<typeof startRig>>;

/** One per run, so that concurrent runs do not collide: the database, the Durable Objects and the Worker's log. */
const stateDir = fileURLToPath(
  new URL(`../../.wrangler/test-faults/${process.pid}`, import.meta.url),
);

/** Starts the product as `npm run dev` does, on its own ports and state, which are removed when the process ends. */
async function startRig(signal: AbortSignal) {
  process.once('exit', () =>
    rmSync(stateDir, {
      recursive: true,
      force: true,
      maxRetries: 5,
    }),
  );
  mkdirSync(stateDir, { recursive: true });
  if (!existsSync('dist/web')) execFileSync('npm', ['run', '--silent', 'build']);
  const log = (line: string) => appendFileSync(`${stateDir}/worker.log`, `${line}\n`);
  // In ten minutes on a fast machine, somebody asks for more than a day's codes, and would be locked out for the day.
  writeFileSync(`${stateDir}/vars`, 'LIMIT_CODES_PER_NUMBER_HARD="1000/1d"\n');
  const product = await startProduct({
    stateDir,
    build: false,
    signal,
    log,
    logRequests: true,
  });
  const { vars } = product;
  // Through the same address to which the faults apply.
  const connection = {
    url: vars.TURSO_DATABASE_URL,
    authToken: vars.TURSO_AUTH_TOKEN,
  };
  const database = drizzle({ connection });
  await database.run(
    'create table outbox_history (id text, phone text, type text, replaced integer)',
  );
  await database.run(`create trigger record_outbox after insert on outbox begin
    insert into outbox_history values (new.id, new.phone, new.body ->> '$.type', false); end`);
  // A delivery ends under its lease; a newer event replaces what nobody is delivering.
  await database.run(`create trigger record_replaced after delete on outbox
    when old.leased_until <= (julianday('now') - 2440587.5) * 86400000 begin
    update outbox_history set replaced = true where id = old.id; end`);
  const stripe = new Stripe(vars.STRIPE_SECRET_KEY, stripeOptions(vars.STRIPE_API_BASE));
  const prices = (
    await stripe.prices.list({
      limit: 100,
      active: true,
    })
  ).data.filter((price) => price.lookup_key);
  /** The plan of each price at the local Stripe. */
  const tiers = new Map(
    prices.map(({ id, lookup_key: key }) => [id, key!.replace(/_weekly$/, '') as PlanId]),
  );

  /** A control call of the local services (`tests/sandbox/start.ts`). */
  const control = <Result = Json>(method: string, path: string, body?: object) =>
    callJson<Result>(method, product.sandboxUrl + path, body);
  const close = async () => {
    database.$client.close();
    await product.close();
  };
  const botSecret = vars.BOT_WEBHOOK_SECRET;
  return {
    product,
    stateDir,
    botSecret,
    database,
    stripe,
    tiers,
    control,
    [Symbol.asyncDispose]: close,
  };
}

/** Runs the work of a script with the product, and ends the process: with 0 if it resolves to true. */
export async function runWithRig(
  script: string,
  work: (rig: Rig) => Promise<boolean>,
): Promise<never> {
  let isRight = false;
  try {
    await using rig = await startRig(stopSignal(script));
    const earlyEnd = rig.product.ended.then((reason) => Promise.reject(new Error(reason)));
    isRight = await Promise.race([work(rig), earlyEnd]);
  } catch (error) {
    process.stdout.write(`${messageOf(error)}\n`);
  }
  process.exit(isRight ? 0 : 1);
}

export type World = {
  rig: Rig;
  site: Site;
  figures: Figures;
  people: Person[];
  /** Part of every text in the conversations: it must be found in no file and no log. */
  marker: string;
  seen: string[];
  /** Aborted when no actor may start anything new. */
  closing: AbortSignal;
  /** Aborted when actors that still wait count as stuck. */
  givenUp: AbortSignal;
};

export class Stuck extends Error {}

const longestWaitMs = 3000;

/** Repeats a call until its result is not temporary: no response, 429 or a server error are, unless `expected`. */
export async function untilTaken(
  world: World,
  person: Person,
  attempt: () => Promise<Answer>,
  expected: number[] = [],
): Promise<Answer> {
  for (;;) {
    const answer = await attempt();
    if (!isNotNow(answer) || expected.includes(answer.status)) return answer;
    await pause(
      world,
      Math.min(answer.retryAfter * 1000, longestWaitMs) + person.choices.between(100, 600),
    );
  }
}

type Expecting = Options & { expected?: number[] };

/** One call of a user as `untilTaken` repeats it; a status that is not expected is a violation. */
export async function callUntilTaken(
  world: World,
  person: Person,
  name: Call,
  given: Expecting = {},
): Promise<Answer> {
  const { expected = [200], ...options } = {
    token: person.token,
    ...given,
  };
  const attempt = () => world.site.call(name, options);
  const answer = await untilTaken(world, person, attempt, expected);
  const { status, code } = answer;
  if (!expected.includes(status))
    world.seen.push(`${person.phone}: ${name} was answered ${code ?? status}`);
  return answer;
}

type Attempt = (token: string) => Promise<Answer>;

/**
 * As `untilTaken`, for a call of one of several tabs: if the user ends its session in another tab, it is repeated in the
 * next session. A 401 in a session that the user has not ended is returned.
 */
export async function untilTakenBySession(
  world: World,
  person: Person,
  attempt: Attempt,
): Promise<Answer> {
  for (;;) {
    const token = person.token!;
    const answer = await untilTaken(world, person, () => attempt(token));
    if (answer.status !== 401 || person.left || person.sessions.has(token)) return answer;
    while (person.token === token) await pause(world, person.choices.between(100, 600));
  }
}

export const isNotNow = ({ status }: Answer): boolean =>
  status === 0 || status === 429 || status >= 500;

export async function untilClosing({ closing }: World, ms: number): Promise<void> {
  await sleep(ms, undefined, { signal: closing }).catch(() => undefined);
}

export async function pause({ givenUp }: World, ms: number): Promise<void> {
  await sleep(ms, undefined, { signal: givenUp }).catch(() => {
    throw new Stuck();
  });
}
