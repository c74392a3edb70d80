import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestProject } from 'vitest/node';
import { freePort } from '../product/machine.ts';
import { startProduct } from '../product/start-product.ts';
import { refreshVars } from '../product/vars.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen } from '../sandbox/start.ts';

/** Starts the product once, because a start takes seconds. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'solace-shared-'));
  const varsFile = join(folder, 'vars');
  const [port, sandboxPort] = [await freePort(0, 'PORT'), await freePort(0, 'SANDBOX_PORT')];
  const botSwitch = await startBotSwitch(`http://127.0.0.1:${sandboxPort}/bot/webhook`);
  // `refreshVars` would replace an address at localhost by the local bot's.
  writeFileSync(varsFile, `BOT_WEBHOOK_URL=http://0.0.0.0:${botSwitch.port}/events\n`);
  const started = await startProduct({ port, sandboxPort, stateDir: join(folder, 'state'), varsFile, build: false });
  const { siteUrl, sandboxUrl } = started;
  const botSwitchUrl = `http://127.0.0.1:${botSwitch.port}/bot`;
  const auditFile = join(folder, 'audit.jsonl');
  provide('product', { siteUrl, sandboxUrl, vars: refreshVars(varsFile, {}), auditFile, botSwitchUrl });
  return async () => {
    await started.close();
    await botSwitch.close();
    rmSync(folder, { recursive: true, force: true });
  };
}

/** Forwards the Worker's events to the local bot, or to the bot whose address a test puts to `/bot`. */
async function startBotSwitch(localBot: string) {
  let bot = localBot;
  const server = await listen(0);
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    if (request.method === 'PUT') {
      bot = (JSON.parse(body) as { url: string | null }).url ?? localBot;
      return response.end('{}');
    }
    const headers = Object.entries(request.headers).filter(([name]) => name.startsWith('webhook-'));
    const init = { method: 'POST', body, headers: headers as [string, string][] };
    const forwarded = await fetch(bot, init).catch(() => null);
    return response.writeHead(forwarded?.status ?? 502).end(await forwarded?.text());
  };
  server.serve((request, response) => void respond(request, response));
  return server;
}
