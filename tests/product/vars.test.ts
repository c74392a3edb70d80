import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { addresses, refreshVars } from './vars.ts';

const folder = mkdtempSync(join(tmpdir(), 'solace-vars-'));
afterAll(() => rmSync(folder, { recursive: true }));
const newFile = () => join(folder, randomUUID());

test('the first run writes fresh secrets, the next keeps them', () => {
  const file = newFile();
  const first = refreshVars(file, addresses(8787, 8788));
  expect(first.SESSION_KEYS).toMatch(/^[\w-]+:[\w-]{43}$/);
  expect(first.BOT_WEBHOOK_SECRET).toMatch(/^whsec_/);
  const written = readFileSync(file, 'utf8');
  expect(refreshVars(file, addresses(8787, 8788))).toEqual(first);
  expect(readFileSync(file, 'utf8')).toBe(written);
});

test('moved ports move the addresses of this machine and nothing else', () => {
  const file = newFile();
  const before = refreshVars(file, addresses(8787, 8788));
  const after = refreshVars(file, addresses(9000, 9001));
  expect(after).toMatchObject({ SITE_URL: 'http://localhost:9000', STRIPE_API_BASE: 'http://127.0.0.1:9001' });
  expect(after.TURSO_AUTH_TOKEN).toBe(before.TURSO_AUTH_TOKEN);
});

test('what a person wrote stays', () => {
  const file = newFile();
  writeFileSync(file, '# mine\nAPPROVAL=manual\nSTRIPE_API_BASE=https://api.stripe.com\nWHATSAPP_TOKEN="quoted"\n');
  const written = { APPROVAL: 'manual', STRIPE_API_BASE: 'https://api.stripe.com', WHATSAPP_TOKEN: 'quoted' };
  expect(refreshVars(file, addresses(8787, 8788))).toMatchObject(written);
  expect(readFileSync(file, 'utf8')).toMatch(/^# mine\nAPPROVAL=manual\n/);
});
