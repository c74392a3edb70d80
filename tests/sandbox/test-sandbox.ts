import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { signedHeaders } from './bot/calls.ts';
import type { SandboxSecrets } from './setup.ts';
import { startSandbox } from './start.ts';
import { listen } from './stripe/listen.ts';

export const secrets = {
  TURSO_AUTH_TOKEN: 'database-token',
  WHATSAPP_PHONE_NUMBER_ID: '100200300',
  WHATSAPP_TOKEN: 'whatsapp-token',
  WHATSAPP_TEMPLATE_NAME: 'sign_in_code',
  WHATSAPP_TEMPLATE_LANGUAGE: 'en es pt_BR',
  BOT_WEBHOOK_SECRET: `whsec_${Buffer.from('the bot signs with this').toString('base64')}`,
  EXTERNAL_TOKEN_ISSUER: 'https://issuer.test',
  EXTERNAL_TOKEN_AUDIENCE: 'solace',
  STRIPE_SECRET_KEY: 'sk_test_sandbox',
  STRIPE_WEBHOOK_SECRET: `whsec_${Buffer.from('stripe signs with this').toString('base64')}`,
  MAIL_API_KEY: 'mail-key',
  MAIL_FROM: 'Solace <receipts@solace.example>',
} satisfies SandboxSecrets;

/** Starts a sandbox for one test file, on a free port. */
export async function startTestSandbox(siteUrl = 'http://127.0.0.1:9') {
  const stateDir = mkdtempSync(join(tmpdir(), 'solace-sandbox-'));
  const start = () =>
    startSandbox({
      port: 0,
      stateDir,
      siteUrl,
      secrets,
    });
  let running = await start();

  /** Calls the sandbox and returns status, headers and JSON. */
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(running.url + path, {
      method,
      headers,
      ...(text !== undefined && { body: text }),
    });
    const json: any = await response.json();
    return {
      status: response.status,
      headers: response.headers,
      json,
    };
  };

  return {
    stateDir,
    get url() {
      return running.url;
    },
    call,
    messagesOf: async (phone: string) => (await call('GET', `/phones/${phone}/messages`)).json,
    async restart() {
      await running.close();
      running = await start();
    },
    close: async () => {
      await running.close();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

const webhook = new Webhook(secrets.BOT_WEBHOOK_SECRET);

/** The response of the stub to a usage post. */
export const usage = {
  success: true,
  allowed: true,
  used: 1,
  limit: 5,
  remaining: 4,
  voice: false,
  resetsAt: '2026-01-08T00:00:00Z',
};

/** A sandbox whose bot calls a stub of the API. The stub records the calls and throws for a wrong signature. */
export async function startTestBot() {
  const calls: { path: string; body: any }[] = [];
  const responses = new Map<string, [status: number, body: object]>();
  const api = await listen(0);
  api.serve((request, response) => void respond(request, response));
  const { call, messagesOf, close } = await startTestSandbox(`http://127.0.0.1:${api.port}`);

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!;
    const body = webhook.verify(await text(request), request.headers as Record<string, string>);
    calls.push({ path, body });
    const [status, result] = responses.get(path) ?? [200, { success: true, seq: 2 }];
    response.writeHead(status).end(JSON.stringify(result));
  }

  return {
    calls,
    call,
    messagesOf,
    /** Sets the response of the stub to the calls of a path. */
    respondWith: (path: string, status: number, body: object) =>
      void responses.set(path, [status, body]),
    /** Removes the recorded calls, and restores the default responses. */
    reset() {
      calls.length = 0;
      responses.clear();
      responses.set('/api/bot/usage', [200, usage]);
    },
    /** Posts an event to the bot as the Worker does; `signed` is the text under the signature, if it is another one. */
    postEvent(
      type: string,
      data: object,
      {
        id = crypto.randomUUID(),
        timestamp = '2026-01-01T00:00:00Z',
        signed,
      }: { id?: string; timestamp?: string; signed?: object } = {},
    ) {
      const event = { type, timestamp, data };
      return call(
        'POST',
        '/bot/webhook',
        event,
        signedHeaders(webhook, id, JSON.stringify(signed ?? event)),
      );
    },
    close: () => Promise.all([close(), api.close()]),
  };
}
