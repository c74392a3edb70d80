import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxSecrets } from './settings.ts';
import { startSandbox } from './start.ts';

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
