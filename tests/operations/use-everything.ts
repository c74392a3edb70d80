import { randomInt } from 'node:crypto';
import { until } from '../api/support/clock.ts';
import { runMinuteCron } from '../product/cron-clock.ts';

export type Site = { siteUrl: string; sandboxUrl: string };
type Body = Record<string, unknown>;
type Answer = { status: number; body: Body };

/** What did not work, as `what: status body`. */
export type Trouble = string;

async function send(method: string, url: string, { token, body }: { token?: string; body?: object } = {}) {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  return { status: response.status, body: (text.startsWith('{') ? JSON.parse(text) : { text }) as Body };
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

/** Signs a number in by a code, as a person does: writes first, then reads the code on the phone. */
async function signIn({ siteUrl, sandboxUrl }: Site, phone: string): Promise<string> {
  const onPhone = `${sandboxUrl}/phones/${encodeURIComponent(phone)}/messages`;
  await send('POST', onPhone, { body: { text: 'Hello' } });
  await send('POST', `${siteUrl}/api/auth/request-otp`, { body: { phone } });
  const messages = (await (await fetch(onPhone)).json()) as { code?: string }[];
  const otp = messages.findLast(({ code }) => code)?.code ?? '000000';
  const { body } = await send('POST', `${siteUrl}/api/auth/verify-otp`, { body: { phone, otp } });
  return textOf(body['token']);
}

/** Uses each feature that writes rows, and returns what did not work. */
export async function useEverything(site: Site, phone: string): Promise<{ token: string; troubles: Trouble[] }> {
  const { siteUrl } = site;
  const token = await signIn(site, phone);
  const troubles: Trouble[] = [];
  const note = (what: string, { status, body }: Answer) => {
    if (status !== 200 || body['success'] === false) troubles.push(`${what}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const call = async (method: string, path: string, body?: object) =>
    note(`${method} ${path}`, await send(method, `${siteUrl}${path}`, { token, ...(body && { body }) }));

  await call('GET', '/api/user/me');
  await call('PUT', '/api/user/platform', { platform: 'web' });
  await call('PUT', '/api/user/chat/consent', { version: '1' });
  const sent = await call('POST', '/api/user/chat/messages', { id: crypto.randomUUID(), text: 'How are you?' });
  await call('GET', '/api/user/sessions');
  await call('POST', '/api/user/stream-ticket');
  await call('GET', '/api/user/export');
  await buy(call, troubles);
  await trial(site, note);
  await runMinuteCron(siteUrl);
  if (sent['success'] !== false) await awaitReply(call, troubles);
  return { token, troubles };
}

type Call = (method: string, path: string, body?: object) => Promise<Body>;

async function buy(call: Call, troubles: Trouble[]): Promise<void> {
  const { portalUrl } = await call('POST', '/api/billing/create-subscription-update-session', { tier: 'premium' });
  if (typeof portalUrl !== 'string') return;
  const page = await fetch(portalUrl, { method: 'POST', body: new URLSearchParams(), redirect: 'manual' });
  const sessionId = new URL(page.headers.get('location') ?? 'http://x').searchParams.get('session_id') ?? '';
  const result = await call('POST', '/api/billing/verify-and-update-checkout-session', { sessionId });
  if (result['newTier'] !== 'premium') troubles.push(`the plan: ${JSON.stringify(result)}`);
}

async function trial({ siteUrl, sandboxUrl }: Site, note: (what: string, answer: Answer) => Body): Promise<void> {
  const phone = encodeURIComponent(`+1555${randomInt(1_000_000, 9_999_999)}`);
  await send('POST', `${sandboxUrl}/phones/${phone}/messages`, { body: { text: 'Hi' } });
  const link = note('trial', await send('POST', `${sandboxUrl}/phones/${phone}/trial`, { body: { days: 3 } }));
  const trialToken = textOf(link['url']).split('token=')[1] ?? '';
  note('the trial link', await send('POST', `${siteUrl}/auth/verify-trial-token`, { body: { trialToken } }));
}

async function awaitReply(call: Call, troubles: Trouble[]): Promise<void> {
  const authors = async () => {
    const { messages = [] } = (await call('GET', '/api/user/chat')) as { messages?: { author: string }[] };
    return messages.map(({ author }) => author);
  };
  const hasReply = (found: string[]) => found.includes('solace');
  await until('a reply in the chat', authors, hasReply).catch((error: Error) => troubles.push(error.message));
}

/** Deletes the account; what did not work, or nothing. */
export async function leave({ siteUrl }: Site, token: string): Promise<Trouble[]> {
  const { status, body } = await send('DELETE', `${siteUrl}/api/user/me`, { token });
  return status === 200 ? [] : [`DELETE /api/user/me: ${status} ${JSON.stringify(body)}`];
}

export async function profileOf({ siteUrl }: Site, token: string): Promise<Answer> {
  return send('GET', `${siteUrl}/api/user/me`, { token });
}
