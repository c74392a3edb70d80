import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@libsql/client/web';
import { Webhook } from 'standardwebhooks';
import { startProduct } from '../product/start-product.ts';
import type { RequestListener } from 'node:http';
import { listen } from '../sandbox/stripe/listen.ts';

/** The JSON of a call to the site or to the local services, refusals too. */
export async function call<T = Record<string, any>>(
  url: string,
  method = 'GET',
  body?: object,
  token = '',
) {
  const headers = {
    'content-type': 'application/json',
    ...(token && { authorization: `Bearer ${token}` }),
  };
  const response = await fetch(url, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as T;
}

/** The settings of this machine that a program needs; compiled code at hand saves a quarter of its start. */
export const ownEnvironment = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
};

let previous = randomInt(1_000_000, 9_000_000);
/** A number that no other test has. */
export const newNumber = () => `+1555${(previous += 1)}`;

/**
 * Starts the product for one test file, with what its users do; `botPort` is that of a bot in
 * place of the local one. `close` ends it, and takes its folder away.
 */
export async function startTestProduct(botPort?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'solace-product-'));
  const varsFile = join(folder, 'vars');
  // `refreshVars` would replace an address at localhost by the local bot's.
  if (botPort) writeFileSync(varsFile, `BOT_WEBHOOK_URL=http://0.0.0.0:${botPort}/events\n`);
  const stateDir = join(folder, 'state');
  const product = await startProduct({
    stateDir,
    varsFile,
    build: false,
  });
  const { siteUrl, sandboxUrl, vars } = product;
  const database = createClient({
    url: vars.TURSO_DATABASE_URL,
    authToken: vars.TURSO_AUTH_TOKEN,
  });
  async function close(): Promise<void> {
    database.close();
    await product.close();
    rmSync(folder, { recursive: true, force: true });
  }

  const writeToAssistant = (phone: string) =>
    call(`${sandboxUrl}/phones/${phone}/messages`, 'POST', { text: 'Hi' });

  /** A contact as the bot reports it, with any names. */
  async function reportContact(names: { phone?: string; businessUserId?: string }) {
    const [id, at, body] = [crypto.randomUUID(), new Date(), JSON.stringify(names)];
    const [secret] = vars.BOT_WEBHOOK_SECRET.split(' ') as [string];
    const { status } = await fetch(`${siteUrl}/api/bot/contacts`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign(id, at, body),
      },
      body,
    });
    return { status };
  }

  /** The newest code on a phone. */
  async function codeOn(phone: string): Promise<string> {
    const messages = await call<{ code?: string }[]>(`${sandboxUrl}/phones/${phone}/messages`);
    return messages.findLast(({ code }) => code)!.code!;
  }

  /** The token of a new session; clears the limits first, as a message to the assistant does. */
  async function signIn(phone: string): Promise<string> {
    await writeToAssistant(phone);
    // As the page does: a code that signs in with its challenge does not count for the address, which all tests share.
    const { challenge } = await call(`${siteUrl}/api/auth/request-otp`, 'POST', { phone });
    const otp = await codeOn(phone);
    const { token } = await call(`${siteUrl}/api/auth/verify-otp`, 'POST', {
      phone,
      otp,
      challenge,
    });
    return token;
  }

  /** Starts a trial by the link that the bot sends; returns the token of its limited session. */
  async function startTrial(
    phone: string,
    details: { tier?: string; days?: number },
  ): Promise<string> {
    const { url: link } = await call(`${sandboxUrl}/phones/${phone}/trial`, 'POST', details);
    return openTrialLink(link);
  }

  async function openTrialLink(link: string): Promise<string> {
    const trialToken = new URL(link).searchParams.get('token');
    return (await call(`${siteUrl}/auth/verify-trial-token`, 'POST', { trialToken })).token;
  }

  return {
    ...product,
    close,
    folder,
    database,
    writeToAssistant,
    reportContact,
    codeOn,
    signIn,
    startTrial,
    openTrialLink,
  };
}

export async function serve(listener: (...args: Parameters<RequestListener>) => unknown) {
  const server = await listen(0);
  server.serve((request, response) => void listener(request, response));
  return {
    url: `http://127.0.0.1:${server.port}`,
    close: () => server.close(),
  };
}
