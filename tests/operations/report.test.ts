import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { createClient } from '@libsql/client/web';
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

it("has last year's figures on the morning of 2 January", async () => {
  const { TURSO_DATABASE_URL: url = '', TURSO_AUTH_TOKEN: authToken = '' } = services.vars;
  const client = createClient({ url, authToken });
  const dayOf = (date: string) => Date.parse(date) / 86_400_000;
  const totals: [string, string, string, number][] = [
    ['2026-01-01', 'referral', 'web', 40],
    ['2026-12-31', 'referral', 'web', 2],
    ['2026-12-31', 'referral', 'whatsapp', 17],
    ['2027-01-01', 'referral', 'web', 1],
    ['2026-06-01', 'cancellation', '', 5],
    ['2026-06-01', 'cancel_reason', 'price', 3],
    ['2026-06-02', 'claim', '', 4],
  ];
  const insert = 'insert into daily_totals (day, kind, detail, n) values (?, ?, ?, ?)';
  for (const [date, ...counted] of totals) await client.execute({ sql: insert, args: [dayOf(date), ...counted] });
  const site = createServer((_, response) => response.writeHead(200).end());
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const { stdout } = await report({ SITE_URL: `http://127.0.0.1:${(site.address() as AddressInfo).port}` });
  site.close();
  const cells = stdout.split('\n').map((line) => line.split('│').map((cell) => cell.trim().replaceAll("'", '')));
  const rowOf = (...begins: string[]) =>
    cells.find((row) => begins.every((cell, index) => row[index + 2] === cell))?.slice(2, -1);
  expect(rowOf('2026', 'web')).toEqual(['2026', 'web', '42', '2026-01-01', '2026-12-31']);
  expect(rowOf('2026', 'whatsapp')).toEqual(['2026', 'whatsapp', '17', '2026-12-31', '2026-12-31']);
  expect(rowOf('2027', 'web')).toEqual(['2027', 'web', '1', '2027-01-01', '2027-01-01']);
  expect(rowOf('2026', '5')?.[1]).toBe('5');
  expect(rowOf('2026', 'price')?.[2]).toBe('3');
  expect(rowOf('2026', 'claim')?.[2]).toBe('4');
  expect(stdout).toContain('claims_waiting');
});
