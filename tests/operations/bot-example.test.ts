import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

const root = join(import.meta.dirname, '../..');
const directory = join(root, '.wrangler/documents');
const secret = `whsec_${Buffer.from('a secret of the bot, for this test').toString('base64')}`;
const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

beforeAll(() => {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, '.dev.vars'), `SITE_URL=http://localhost\nBOT_WEBHOOK_SECRET=${secret}\n`);
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

it.skipIf(!hasOpenssl)('signs by curl as the README shows it', () => {
  const script = `curl() { for each in "$@"; do printf '%s\\0' "$each"; done; }\n${example('sh', 'curl http')}`;
  const sent = execFileSync('bash', ['-euc', script], { cwd: directory, encoding: 'utf8' }).split('\0');
  const headers = sent
    .filter((_, index) => sent[index - 1] === '-H')
    .map((line) => line.split(/:\s*/) as [string, string]);
  const body = sent[sent.indexOf('-d') + 1]!;
  expect(sent[0]).toBe('http://localhost:8787/api/bot/usage');
  expect(new Webhook(secret).verify(body, Object.fromEntries(headers))).toEqual({ phone: '+15551234567' });
});

it('signs in TypeScript as the README shows it', async () => {
  const file = join(directory, 'example.ts');
  writeFileSync(file, `${example('ts', 'countMessage')}\nexport { countMessage };\n`);
  const fetched = vi.fn<typeof fetch>();
  vi.stubGlobal('fetch', fetched);
  vi.stubEnv('BOT_WEBHOOK_SECRET', secret);
  const { countMessage } = (await import(file)) as { countMessage: (phone: string, id: string) => Promise<unknown> };
  await countMessage('+15551234567', 'message-1');
  const { headers, body } = fetched.mock.calls[0]![1] as { headers: Record<string, string>; body: string };
  expect(headers['webhook-id']).toBe('message-1');
  expect(new Webhook(secret).verify(body, headers)).toEqual({ phone: '+15551234567' });
});

/** The README's code block of a language that holds a word. */
function example(language: string, word: string): string {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, code = '']) => code,
  );
  const found = blocks.find((code) => code.includes(word));
  if (!found) throw new Error(`The README has no ${language} with ${word}.`);
  return found;
}
