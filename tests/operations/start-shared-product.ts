import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { freePort } from '../product/machine.ts';
import { startProduct } from '../product/start-product.ts';
import { refreshVars } from '../product/vars.ts';
import { startBotSwitch } from './bot-switch.ts';

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
