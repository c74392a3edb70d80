import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { freePort } from '../product/machine.ts';
import { startProduct } from '../product/start-product.ts';
import { refreshVars } from '../product/vars.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, type Listening } from '../sandbox/start.ts';

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
async function startBotSwitch(localBot: string): Promise<Listening> {
  let bot = localBot;
  const server = await listen(0);
  server.serve((request, response) => void respond(request, response));
  return server;

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray());
    if (request.method === 'PUT') {
      bot = (JSON.parse(body.toString()) as { url: string | null }).url ?? localBot;
      response.end('{}');
      return;
    }
    const headers = Object.entries(request.headers).filter(([name]) => name.startsWith('webhook-'));
    const forwarded = await fetch(bot, { method: 'POST', body, headers: headers as [string, string][] }).catch(
      () => null,
    );
    response.writeHead(forwarded?.status ?? 502).end(await forwarded?.text());
  }
}
