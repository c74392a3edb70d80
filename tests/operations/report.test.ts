import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { startTestServices } from '../product/start-product.ts';
import { serve } from './test-product.ts';

const services = await startTestServices();
const site = await serve((_, response) => response.writeHead(200).end());
afterAll(() => Promise.all([services.close(), site.close()]));

const command = ['.ci/require-node.js', 'worker/operations/report/report.ts'];
async function report(SITE_URL = site.url): Promise<string> {
  const env = { PATH: process.env['PATH'], ...services.vars, SITE_URL };
  return (await promisify(execFile)(process.execPath, command, { env })).stdout;
}

it('fails when the site does not respond', async () => {
  await expect(report('http://127.0.0.1:1')).rejects.toMatchObject({ code: 1 });
});

it("prints the answers to the five questions, last year's figures on 2 January, and times the health check", async () => {
  const dayOf = (date: string) => Date.parse(date) / 86_400_000;
  for (const [date, ...counted] of [
    ['2026-01-01', 'referral', 'web', 40],
    ['2026-12-31', 'referral', 'web', 2],
    ['2026-12-31', 'referral', 'whatsapp', 17],
    ['2027-01-01', 'referral', 'web', 1],
    ['2026-06-01', 'cancellation', '', 5],
    ['2026-06-01', 'cancel_reason', 'price', 3],
    ['2026-06-02', 'claim', '', 4],
  ] as const) {
    const sql = 'insert into daily_totals (day, kind, detail, n) values (?, ?, ?, ?)';
    await services.database.execute({ sql, args: [dayOf(date), ...counted] });
  }
  const told = await report();
  const cells = told.split('\n').map((line) => line.split('│').map((cell) => cell.trim().replaceAll("'", '')));
  const rows = cells.map((row) => row.slice(2, -1).join(' '));
  expect(rows).toEqual(
    expect.arrayContaining([
      '2026 web 42 2026-01-01 2026-12-31',
      '2026 whatsapp 17 2026-12-31 2026-12-31',
      '2027 web 1 2027-01-01 2027-01-01',
      expect.stringMatching(/^2026 5\b/),
      expect.stringMatching(/^2026 price 3\b/),
      expect.stringMatching(/^2026 claim 4\b/),
    ]),
  );
  const parts = ['Are codes arriving?', 'codes_sent', 'Do webhooks succeed?', 'untold', 'claims_waiting'];
  for (const part of [...parts, '/api/health', '200']) expect(told).toContain(part);
});
