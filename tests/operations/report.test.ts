import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServices } from './test-services.ts';

let services: Awaited<ReturnType<typeof startTestServices>>;
beforeAll(async () => {
  services = await startTestServices();
});
afterAll(() => services.close());

const command = ['.ci/require-node.js', 'worker/operations/report/report.ts'];
const report = (more: Record<string, string> = {}) =>
  promisify(execFile)(process.execPath, command, { env: { PATH: process.env['PATH'], ...services.vars, ...more } });

it('prints the answers of the database to the five questions, and times the health check', async () => {
  const site = createServer((_, response) => response.writeHead(200).end());
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const SITE_URL = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const { stdout } = await report({ SITE_URL });
  site.close();
  for (const part of ['Are codes arriving?', 'codes_sent', 'Do webhooks succeed?', 'untold', '/api/health', '200'])
    expect(stdout).toContain(part);
});

it('fails when the site does not respond', async () => {
  await expect(report({ SITE_URL: 'http://127.0.0.1:1' })).rejects.toMatchObject({ code: 1 });
});
