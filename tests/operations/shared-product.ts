import { inject, onTestFinished } from 'vitest';
import { randomInt } from 'node:crypto';
import { until } from '../api/support/clock.ts';
import { createClient } from '@libsql/client/web';
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The product that `start-shared-product.ts` starts once for all tests that only use it. */
export type SharedProduct = {
  siteUrl: string;
  sandboxUrl: string;
  vars: Record<string, string>;
  auditFile: string;
  /** Sends the Worker's events to another bot, or with null to the local one again. */
  botSwitchUrl: string;
};

declare module 'vitest' {
  interface ProvidedContext {
    product: SharedProduct;
  }
}

export const product = inject('product');

/** The JSON of a call to the site or to the local services. */
export async function call<T = Record<string, any>>(url: string, method = 'GET', body?: object, token = '') {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return (await response.json()) as T;
}

const { siteUrl, sandboxUrl, vars, auditFile } = product;

export const newNumber = () => `+1555${randomInt(1_000_000, 9_999_999)}`;

export const writeToAssistant = (phone: string) =>
  call(`${sandboxUrl}/phones/${phone}/messages`, 'POST', { text: 'Hi' });

/** The newest code on a phone. */
export async function codeOn(phone: string): Promise<string> {
  const messages = await call<{ code?: string }[]>(`${sandboxUrl}/phones/${phone}/messages`);
  return messages.findLast(({ code }) => code)!.code!;
}

/** The token of a new session; clears the limits first, as a message to the assistant does. */
export async function signIn(phone: string): Promise<string> {
  await writeToAssistant(phone);
  // As the page does: a code that signs in with its challenge does not count for the address, which all tests share.
  const { challenge } = await call(`${siteUrl}/api/auth/request-otp`, 'POST', { phone });
  const otp = await codeOn(phone);
  const { token } = await call(`${siteUrl}/api/auth/verify-otp`, 'POST', { phone, otp, challenge });
  return token;
}

/** Starts a trial by the link; returns the token of its limited session. */
export async function openTrialLink(url: string): Promise<string> {
  const trialToken = new URL(url).searchParams.get('token');
  return (await call(`${siteUrl}/auth/verify-trial-token`, 'POST', { trialToken })).token;
}

/** A user who has written, signed in, had a trial, and bought a plan. */
export async function newSubscriber(): Promise<string> {
  const phone = newNumber();
  const token = await signIn(phone);
  const buying = `${siteUrl}/api/billing/create-subscription-update-session`;
  const { portalUrl } = await call(buying, 'POST', { tier: 'basic' }, token);
  await fetch(portalUrl, { method: 'POST', body: new URLSearchParams(), redirect: 'manual' });
  // Stripe's events bring the plan, and this call responds when all are delivered. The return page would wait a second
  // for their lease.
  await call(`${sandboxUrl}/stripe/clock`, 'POST', { advanceSeconds: 0 });
  const profile = async () => (await call(`${siteUrl}/api/user/me`, 'GET', undefined, token))['profile'];
  await until('the plan that was bought', profile, ({ metadata }) => metadata.subscriptionTier === 'basic');
  const { url } = await call(`${sandboxUrl}/phones/${phone}/trial`, 'POST', { tier: 'premium', days: 3 });
  await openTrialLink(url);
  return phone;
}

/** Makes a local service fail, or with null work again; at the latest, it works again when the test has ended. */
export async function setFault(service: 'stripe' | 'bot', fault: { status: number } | null): Promise<void> {
  if (fault) onTestFinished(() => setFault(service, null));
  await call(`${sandboxUrl}/faults`, 'PUT', { [service]: fault });
}

/** The types of the events that the local bot accepted about a user, oldest first. */
export async function eventTypesOf(phone: string): Promise<string[]> {
  const events = await call<{ type: string; data: { phone: string } }[]>(`${sandboxUrl}/bot/events`);
  return events.filter(({ data }) => data.phone === phone).map(({ type }) => type);
}

const { TURSO_DATABASE_URL: url = '', TURSO_AUTH_TOKEN: authToken = '' } = vars;
export const database = createClient({ url, authToken });

/** The tables that contain any of the words, in any column. */
export async function tablesWith(...words: string[]): Promise<string[]> {
  const { rows } = await database.execute(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite%'",
  );
  const found: string[] = [];
  for (const name of rows.map((row) => row['name'] as string)) {
    const held = JSON.stringify((await database.execute(`select * from "${name}"`)).rows);
    if (words.some((word) => held.includes(word))) found.push(name);
  }
  return found.toSorted();
}

export type Ran = { code: number; stdout: string; stderr: string };

const env = { PATH: process.env['PATH'], ...vars, SUPPORT_AUDIT_FILE: auditFile };
let runner: ChildProcess | undefined;

/** Runs a support command with the settings of the product, in the same process as the command before. */
export async function support(...args: string[]): Promise<Ran> {
  runner ??= startRunner();
  runner.send(args);
  const [ran] = (await once(runner, 'message')) as [Ran];
  return ran;
}

/** It ends with the process of the tests. */
function startRunner(): ChildProcess {
  const started = fork(fileURLToPath(new URL('./command-runner.ts', import.meta.url)), { env });
  started.unref();
  started.channel?.unref();
  return started;
}

/** Runs a command of the owner, a file of `worker/operations`, in a process of its own. */
export async function ownerProcess(file: string, ...args: string[]): Promise<Ran> {
  const command = ['.ci/require-node.js', `worker/operations/${file}`, ...args];
  const ran = promisify(execFile)(process.execPath, command, { env });
  return ran.then((output) => ({ code: 0, ...output })).catch((failed: Ran) => failed);
}

/** Runs a support command in a process of its own, as `npm run support` does. */
export const supportProcess = (...args: string[]) => ownerProcess('support/support-command.ts', ...args);

/** What a command prints with `--json`. */
export async function supportJson(...args: string[]): Promise<Record<string, any>> {
  const { stdout } = await support(...args, '--json');
  return JSON.parse(stdout) as Record<string, any>;
}

export const auditText = () => readFileSync(auditFile, 'utf8');

export const auditLines = () =>
  auditText()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { command: string; about: string; outcome: string; env: string });
