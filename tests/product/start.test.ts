import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { findBrowser } from '../browser/browser.ts';
import { fullUnless } from '../long-tours.ts';
import { isReset } from './command.ts';
import { freePort, requireDiskSpace } from './machine.ts';
import { listen } from '../sandbox/stripe/listen.ts';
import { aborted } from './start-product.ts';
import { requireOwnVersion } from './state-folder.ts';
import { addresses, readVars, refreshVars } from './vars.ts';

const programs = {
  'npm run dev': 'tests/product/dev.ts',
  'npm test': 'tests/runner/all.ts',
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'solace-problems-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs Node in a process group of its own, expects it to fail and to leave no process behind, and returns its output. */
async function linesOfFailure(args: string[], env: Record<string, string> = {}): Promise<string[]> {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'], ...env },
    detached: true,
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => output.push(data.toString()));
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(() => process.kill(-child.pid!, 0)).toThrow('ESRCH');
  return output.join('').trim().split('\n');
}

for (const setting of ['PORT', 'SANDBOX_PORT'])
  it(
    `a port in use is named by npm run dev, with the setting ${setting}`,
    fullUnless(setting === 'PORT'),
    async () => {
      const taken = await listen(0);
      onTestFinished(() => taken.close());
      // The other one is free, in a range from which no system takes ports: 0 is no port for this command.
      const ports = {
        PORT: String(await freePort(0, 'PORT')),
        SANDBOX_PORT: String(await freePort(0, 'SANDBOX_PORT')),
        [setting]: String(taken.port),
      };
      const lines = await linesOfFailure(['.ci/require-node.js', programs['npm run dev']], ports);
      expect(lines.at(-1)).toBe(
        `Port ${taken.port} is taken by another program. Choose another one with ${setting}, for example ${setting}=${taken.port + 10}.`,
      );
    },
  );

it.each(Object.entries(programs))(
  'an old Node is named by %s, with the one to install',
  async (_, program) => {
    mkdirSync(join(folder, 'node_modules'));
    cpSync('.ci', join(folder, '.ci'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const isStable = process.allowedNodeEnvironmentFlags.has('--no-strip-types');
    const withoutTypeScript = isStable ? '--no-strip-types' : '--no-experimental-strip-types';
    const lines = await linesOfFailure([
      withoutTypeScript,
      join(folder, '.ci/require-node.js'),
      program,
    ]);
    expect(lines).toEqual([
      expect.stringMatching(
        /^Solace needs Node 22\.18 or newer, and this is v[\d.]+\. .*: install Node 24, then run this again\.$/,
      ),
    ]);
  },
);

describe('a missing browser', () => {
  it('is named by npm test before anything starts', async () => {
    const env = { CHROMIUM_PATH: '/nowhere/chromium' };
    const lines = await linesOfFailure(['.ci/require-node.js', programs['npm test']], env);
    expect(lines).toEqual([
      'CHROMIUM_PATH is /nowhere/chromium, where there is no browser: correct it, or unset it.',
      expect.stringMatching(/^Failed in \d+ s\.$/),
    ]);
  });

  it('that no network can bring is named after every installer has failed', () => {
    const tried: string[] = [];
    const install = ['npx', 'apt-get'].map((name) => () => void tried.push(name));
    expect(() => findBrowser([join(folder, 'chromium')], install, '')).toThrow(
      /^The browser tests need Chromium, and it could not be installed: connect to the network and run `npx playwright install chromium`/,
    );
    expect(tried).toEqual(['npx', 'apt-get']);
  });

  it('is installed by the first installer that can', () => {
    const path = join(folder, 'chromium');
    const refuse = () => expect.unreachable('installs once');
    expect(findBrowser([path], [() => {}, () => writeFileSync(path, ''), refuse], '')).toBe(path);
  });
});

it('a stop during the preparations is not forgotten', async () => {
  expect(await aborted(AbortSignal.abort())).toBe('Stopped.');
});

it('a disk without the space that is needed is named', () => {
  const said = /^The disk has \d+ MiB left, and Solace needs 1099511627776 MiB: remove/;
  expect(() => requireDiskSpace(folder, 2 ** 40)).toThrow(said);
  expect(() => requireDiskSpace(folder, 0)).not.toThrow();
});

it('a state folder of another version is named, with the two ways out', () => {
  mkdirSync(join(folder, 'sandbox'));
  writeFileSync(join(folder, 'sandbox/solace.db'), 'no database, nor one of this version');
  expect(() => requireOwnVersion(folder)).toThrow(
    /belongs to another version of Solace\. Go back to that version to keep them, or start with none: npm run dev -- --reset$/,
  );
});

it.each([
  ['npm run dev -- --reset', ['node', 'dev.ts', '--reset'], {}, true],
  ['npm run dev --reset', ['node', 'dev.ts'], { npm_config_reset: 'true' }, true],
  ['npm run dev', ['node', 'dev.ts'], {}, false],
])('`%s` begins with nothing only if it is asked to', (_, args, env, expected) => {
  expect(isReset(args, env)).toBe(expected);
});

it('a request that comes while a service starts is answered', async () => {
  const server = await listen(0);
  onTestFinished(() => server.close());
  const early = request({
    port: server.port,
    method: 'POST',
    headers: { expect: '100-continue' },
    agent: false,
  });
  early.flushHeaders();
  await once(early, 'continue');
  server.serve((_, response) => response.end());
  early.end();
  const [response] = (await once(early, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  response.resume();
  await once(response, 'close');
});

it('settings that cannot be read are named', () => {
  expect(() => refreshVars(folder, addresses(8787, 8788))).toThrow(
    /cannot be read \(EISDIR\): make it a readable file, or move it away for a new one\.$/,
  );
});

it.each<[what: string, spoil: (text: string) => string, said: RegExp]>([
  [
    'is malformed',
    (text) => text.replace(/^SESSION_KEYS=.*$/m, 'SESSION_KEYS=short'),
    /vars cannot be used: SESSION_KEYS is malformed\. Write `name:secret`/,
  ],
  [
    'is lost',
    (text) => text.replace(/^STRIPE_SECRET_KEY=.*$/m, ''),
    /vars lacks STRIPE_SECRET_KEY: put it back, or stop and start again for a new one\.$/,
  ],
])('a setting that %s is named, with what to do', (_, spoil, said) => {
  const file = join(folder, 'vars');
  refreshVars(file, addresses(8787, 8788));
  expect(readVars(file).SITE_URL).toBe('http://localhost:8787');
  writeFileSync(file, spoil(readFileSync(file, 'utf8')));
  expect(() => readVars(file)).toThrow(said);
});

it('the first run writes fresh secrets, the next keeps them', () => {
  const file = join(folder, 'vars');
  const first = refreshVars(file, addresses(8787, 8788));
  expect(first.SESSION_KEYS).toMatch(/^[\w-]+:[\w-]{43}$/);
  expect(first.BOT_WEBHOOK_SECRET).toMatch(/^whsec_/);
  const written = readFileSync(file, 'utf8');
  expect(refreshVars(file, addresses(8787, 8788))).toEqual(first);
  expect(readFileSync(file, 'utf8')).toBe(written);
});

it('moved ports move the addresses of this machine and nothing else', () => {
  const file = join(folder, 'vars');
  const before = refreshVars(file, addresses(8787, 8788));
  const after = refreshVars(file, addresses(9000, 9001));
  expect(after).toMatchObject({
    SITE_URL: 'http://localhost:9000',
    STRIPE_API_BASE: 'http://127.0.0.1:9001',
  });
  expect(after.TURSO_AUTH_TOKEN).toBe(before.TURSO_AUTH_TOKEN);
});

it('what a person wrote stays', () => {
  const file = join(folder, 'vars');
  writeFileSync(
    file,
    '# mine\nAPPROVAL=manual\nSTRIPE_API_BASE=https://api.stripe.com\nWHATSAPP_TOKEN="quoted"\n',
  );
  const written = {
    APPROVAL: 'manual',
    STRIPE_API_BASE: 'https://api.stripe.com',
    WHATSAPP_TOKEN: 'quoted',
  };
  expect(refreshVars(file, addresses(8787, 8788))).toMatchObject(written);
  expect(readFileSync(file, 'utf8')).toMatch(/^# mine\nAPPROVAL=manual\n/);
});
