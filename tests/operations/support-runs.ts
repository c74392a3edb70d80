import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { until } from '../api/support/clock.ts';
import { type Ran, runApart, runHere } from './program-runs.ts';
import { call, newNumber, ownEnvironment, serve, startTestProduct } from './test-product.ts';

export const product = await startTestProduct();
afterAll(() => product.close());
const { siteUrl, sandboxUrl, vars, database, signIn, startTrial } = product;
const auditFile = join(product.folder, 'audit.jsonl');

export async function newSubscriber(): Promise<string> {
  const phone = newNumber();
  const token = await signIn(phone);
  const buying = `${siteUrl}/api/billing/create-subscription-update-session`;
  const { portalUrl } = await call(buying, 'POST', { tier: 'basic' }, token);
  await fetch(portalUrl, {
    method: 'POST',
    body: new URLSearchParams(),
    redirect: 'manual',
  });
  // Stripe's events bring the plan, and this call responds when all are delivered. The return page would wait a second
  // for their lease.
  await call(`${sandboxUrl}/stripe/clock`, 'POST', { advanceSeconds: 0 });
  const profile = async () =>
    (await call(`${siteUrl}/api/user/me`, 'GET', undefined, token))['profile'];
  await until(
    'the plan that was bought',
    profile,
    ({ metadata }) => metadata.subscriptionTier === 'basic',
  );
  await startTrial(phone, { tier: 'premium', days: 3 });
  return phone;
}

/** Makes a local service fail, or with null work again; at the latest, it works again when the test has ended. */
export async function setFault(
  service: 'libsql' | 'stripe' | 'bot',
  fault: { status: number } | { unknownCustomer: true } | null,
): Promise<void> {
  if (fault) onTestFinished(() => setFault(service, null));
  await call(`${sandboxUrl}/faults`, 'PUT', { [service]: fault });
}

/** The types of the events that the local bot accepted about a user, oldest first. */
export async function eventTypesOf(phone: string): Promise<string[]> {
  const events = await call<{ type: string; data: { phone: string } }[]>(
    `${sandboxUrl}/bot/events`,
  );
  return events.filter(({ data }) => data.phone === phone).map(({ type }) => type);
}

/** The tables that contain any of the words, in any column. */
export async function tablesWith(...words: string[]): Promise<string[]> {
  const tables = "select name from sqlite_master where type = 'table' and name not like 'sqlite%'";
  const { rows } = await database.execute(tables);
  const found: string[] = [];
  for (const name of rows.map((row) => row['name'] as string)) {
    const held = JSON.stringify((await database.execute(`select * from "${name}"`)).rows);
    if (words.some((word) => held.includes(word))) found.push(name);
  }
  return found.toSorted();
}

let env = {
  ...ownEnvironment,
  ...vars,
  SUPPORT_AUDIT_FILE: auditFile,
};

/** Until the test ends, the responses of the site to support commands are lost; `handles` says whether it gets their calls. */
export async function loseResponses({ handles }: { handles: boolean }): Promise<void> {
  const lossy = await serve(async (request, response) => {
    const chunks = await request.toArray();
    const { method, url, headers } = request;
    const { authorization = '', 'content-type': type = 'application/json' } = headers;
    const body = Buffer.concat(chunks as Buffer[]);
    const init = {
      method,
      headers: { authorization, 'content-type': type },
      ...(body.length > 0 && { body }),
    };
    if (handles) await fetch(`${siteUrl}${url}`, init as RequestInit);
    response.destroy();
  });
  env = { ...env, SITE_URL: lossy.url };
  onTestFinished(async () => {
    env = { ...env, SITE_URL: siteUrl };
    await lossy.close();
  });
}

/** Runs a command of the owner, a file of `worker/operations`, with the settings of the product. */
export const ownerCommand = (file: string, ...args: string[]): Promise<Ran> =>
  runHere(`worker/operations/${file}`, args, env);

export const support = (...args: string[]) => ownerCommand('support/support-command.ts', ...args);

/** As `support`, in a process of its own. */
export const supportProcess = (...args: string[]) =>
  runApart(
    process.execPath,
    ['.ci/require-node.js', 'worker/operations/support/support-command.ts', ...args],
    env,
  );

export async function supportJson(...args: string[]): Promise<Record<string, any>> {
  const { stdout } = await support(...args, '--json');
  return JSON.parse(stdout) as Record<string, any>;
}

export const auditLines = () =>
  readFileSync(auditFile, 'utf8')
    .trim()
    .split('\n')
    .map(
      (line) =>
        JSON.parse(line) as {
          command: string;
          about: string;
          outcome: string;
          env: string;
        },
    );
