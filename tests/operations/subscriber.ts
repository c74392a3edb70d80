import { randomInt } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { until } from '../api/support/clock.ts';
import { call, product } from './shared-product.ts';
import { createClient } from '@libsql/client/web';

const { siteUrl, sandboxUrl } = product;

export const newNumber = () => `+1555${randomInt(1_000_000, 9_999_999)}`;

export const writeToAssistant = (phone: string) =>
  call(`${sandboxUrl}/phones/${phone}/messages`, 'POST', { text: 'Hi' });

/** The token of a new session; clears the limits first, as a message to the assistant does. */
export async function signIn(phone: string): Promise<string> {
  await writeToAssistant(phone);
  // As the page does: a code that signs in with its challenge does not count for the address, which all tests share.
  const { challenge } = await call(`${siteUrl}/api/auth/request-otp`, 'POST', { phone });
  const messages = await call<{ code?: string }[]>(`${sandboxUrl}/phones/${phone}/messages`);
  const otp = messages.findLast(({ code }) => code)!.code!;
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

const { TURSO_DATABASE_URL: url = '', TURSO_AUTH_TOKEN: authToken = '' } = product.vars;

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
