import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxSecrets } from './services.ts';
import { startSandbox, listen } from './start.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { signedHeaders } from './bot/calls.ts';

export const secrets: SandboxSecrets = {
  TURSO_AUTH_TOKEN: 'database-token',
  WHATSAPP_PHONE_NUMBER_ID: '100200300',
  WHATSAPP_TOKEN: 'whatsapp-token',
  WHATSAPP_TEMPLATE_NAME: 'sign_in_code',
  WHATSAPP_TEMPLATE_LANGUAGE: 'en es pt_BR',
  WHATSAPP_APP_SECRET: 'app-secret',
  BOT_WEBHOOK_SECRET: `whsec_${Buffer.from('the bot signs with this').toString('base64')}`,
  EXTERNAL_TOKEN_ISSUER: 'https://issuer.test',
  EXTERNAL_TOKEN_AUDIENCE: 'solace',
  STRIPE_SECRET_KEY: 'sk_test_sandbox',
  STRIPE_WEBHOOK_SECRET: `whsec_${Buffer.from('stripe signs with this').toString('base64')}`,
};

/** Starts a sandbox for one test file, on a free port. */
export async function startTestSandbox(siteUrl = 'http://127.0.0.1:9') {
  const stateDir = mkdtempSync(join(tmpdir(), 'solace-sandbox-'));
  const start = () => startSandbox({ port: 0, stateDir, siteUrl, secrets });
  let running = await start();

  return {
    stateDir,
    get url() {
      return running.url;
    },
    /** Calls the sandbox and returns status and JSON. */
    async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
      const response = await fetch(running.url + path, { method, headers, ...(text !== undefined && { body: text }) });
      const json: any = await response.json();
      return { status: response.status, json };
    },
    async restart() {
      await running.close();
      running = await start();
    },
    async close() {
      await running.close();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

type Call = { path: string; id: string; body: any };

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
  const calls: Call[] = [];
  const responses = new Map<string, [status: number, body: object]>();
  const api = await listen(0);
  api.serve((request, response) => void respond(request, response));
  const sandbox = await startTestSandbox(`http://127.0.0.1:${api.port}`);

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!;
    const text = (await request.toArray()).join('');
    webhook.verify(text, request.headers as Record<string, string>);
    calls.push({ path, id: String(request.headers['webhook-id']), body: JSON.parse(text) });
    const [status, body] = responses.get(path) ?? [200, { success: true, seq: 2 }];
    response.writeHead(status).end(JSON.stringify(body));
  }

  return {
    calls,
    call: (...request: Parameters<typeof sandbox.call>) => sandbox.call(...request),
    /** Sets the response of the stub to the calls of a path. */
    respondWith: (path: string, status: number, body: object) => void responses.set(path, [status, body]),
    /** Removes the recorded calls, and restores the default responses. */
    reset() {
      calls.length = 0;
      responses.clear();
      responses.set('/api/bot/usage', [200, usage]);
    },
    async close() {
      await sandbox.close();
      await api.close();
    },
  };
}

/** Posts an event to the bot as the Worker does; `signed` is the text under the signature, if it is another one. */
export function postEvent(
  sandbox: Pick<Awaited<ReturnType<typeof startTestSandbox>>, 'call'>,
  event: object,
  { id = crypto.randomUUID(), signed = event }: { id?: string; signed?: object } = {},
) {
  const headers = signedHeaders(webhook, id, JSON.stringify(signed));
  return sandbox.call('POST', '/bot/webhook', event, headers);
}
