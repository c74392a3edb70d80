import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it, describe, onTestFinished } from 'vitest';
import { experimental_readRawConfig, experimental_getWranglerCommands } from 'wrangler';
import { writeBuiltConfig } from '../product/worker-process.ts';
import { openWrangler, smoke, version } from '../../worker/operations/deploy/new-version.ts';
import { serve } from './test-product.ts';
import { fullUnless } from '../long-tours.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const wrangler = join(root, 'node_modules/wrangler/bin/wrangler.js');
const limitKiB = 300;

const folder = mkdtempSync(join(tmpdir(), 'solace-dry-run-'));
const config = await writeBuiltConfig(root, folder);
afterAll(() => rmSync(folder, { recursive: true }));

/** What `wrangler deploy` would upload; the website is in `dist` already. */
for (const name of ['preview', 'production'])
  it(
    `would deploy the environment "${name}" within its budget, with all bindings`,
    fullUnless(name === 'production'),
    async () => {
      const args = [
        'deploy',
        '--dry-run',
        '--config',
        config,
        '--env',
        name,
        '--outdir',
        join(folder, `out-${name}`),
      ];
      const own = {
        WRANGLER_SEND_METRICS: 'false',
        WRANGLER_LOG_PATH: join(folder, 'logs'),
        FORCE_COLOR: '0',
      };
      const env = { ...process.env, ...own };
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [wrangler, ...args], {
        env,
      });
      const told = stdout + stderr;
      const bindings = ['LIVE_USER', 'RATE_LIMITER', 'NETWORK_RATE_LIMITER'];
      for (const part of [...bindings, 'assets directory']) expect(told).toContain(part);
      expect(told).not.toMatch(/warning/i);
      const [, gzipped] = /gzip: ([\d.]+) KiB/.exec(told) ?? [];
      expect(Number(gzipped)).toBeLessThan(limitKiB);
    },
  );

const { rawConfig } = experimental_readRawConfig({ config: join(root, 'wrangler.toml') });
const { env, observability, triggers, migrations = [], ratelimits = [] } = rawConfig;

it('answers under workers.dev in preview alone, limits calls, and samples traces', () => {
  expect(env?.['production']).toMatchObject({
    workers_dev: false,
    preview_urls: false,
  });
  expect(env?.['preview']).not.toHaveProperty('workers_dev');
  expect(ratelimits).toMatchObject(
    [600, 3000].map((limit) => ({
      simple: {
        limit,
        period: 60,
      },
    })),
  );
  const rate = observability?.traces?.head_sampling_rate;
  expect(rate).toBeGreaterThan(0);
  expect(rate).toBeLessThan(1);
});

it('creates the live objects with a storage of their own, by one migration', () => {
  expect(migrations).toEqual([{ tag: 'v1', new_sqlite_classes: ['LiveUser'] }]);
});

it('runs the tasks of every minute, and those of every hour', () => {
  expect(triggers?.crons).toEqual(['* * * * *', '0 * * * *']);
});

it('Wrangler runs as a program: its output, and the version that it reports, come back', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'solace-wrangler-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const script = join(folder, 'wrangler.cjs');
  const report =
    '{"type":"wrangler-session"}\\n{"version_id":"NEW","worker_name":"solace-preview"}\\n';
  writeFileSync(
    script,
    `require('node:fs').writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH, '${report}');
    console.log('out');
    process.exitCode = Number(process.argv[2]);`,
  );
  const version = { id: 'NEW', worker: 'solace-preview' };
  expect(await openWrangler(script)(['0'], { isQuiet: true })).toEqual({
    ok: true,
    output: 'out\n',
    version,
  });
  expect(await openWrangler(script)(['1'], { isQuiet: true })).toMatchObject({ ok: false });
});

it.each([
  ['versions', 'upload', ['env', 'secrets-file', 'message']],
  ['deployments', 'status', ['env', 'json']],
  ['versions', 'deploy', ['env', 'message', 'yes']],
])('uses flags that the installed Wrangler knows: %s %s %j', (area, verb, flags) => {
  const { registry, globalFlags } = experimental_getWranglerCommands();
  const command = registry.subtree.get(area)?.subtree.get(verb)?.definition;
  expect(command?.type).toBe('command');
  const known = {
    ...globalFlags,
    ...(command?.type === 'command' ? command.args : {}),
  };
  expect(Object.keys(known)).toEqual(expect.arrayContaining(flags));
});

it('names the version without git, as in a source archive', () => {
  const folder = mkdtempSync(join(tmpdir(), 'solace-archive-'));
  expect(version(folder)).toMatch(/^\d+\.\d+\.\d+ of \d{4}-/);
  rmSync(folder, { recursive: true });
});

describe('the look at a deployed site', () => {
  const page = '<script type="module" src="/assets/index-1a2b.js"></script>';
  const deployed = { id: 'v2', worker: 'solace' };
  const once = { forMs: 0, pauseMs: 0 };
  /** Only a failure reaches its end. */
  const patient = { forMs: 60_000, pauseMs: 1 };
  type Site = Record<string, [status: number, body: string, headers?: Record<string, string>]>;
  const refusal = (status: number, code: string): [number, string] => [
    status,
    JSON.stringify({ success: false, code }),
  ];
  const api = {
    'cache-control': 'no-store',
    'x-request-id': '1',
    'content-type': 'application/json',
  };
  const html = {
    'content-type': 'text/html',
    'content-security-policy': "default-src 'none'",
  };
  const inOrder: Site = {
    '/': [200, page],
    '/api/health': [200, '{"status":"ok","checks":{"database":"ok"}}'],
    '/api/user/me': [401, '{"success":false,"code":"unauthenticated"}'],
    '/api/bot/usage': refusal(401, 'invalid_signature'),
    '/api/webhooks/stripe': refusal(400, 'invalid_signature'),
    '/api/auth/verify-otp': refusal(400, 'invalid_field'),
    '/api/user/usage-stream?token=none': refusal(401, 'unauthenticated'),
    '/contact': [200, 'support@solace.example'],
    '/help-now': [200, ''],
    '/login': [200, ''],
  };

  /** What the look says about a site that differs for some calls, and the versions that it asked for. */
  async function look(
    change: Site,
    { id = 'v2', calls = Infinity, patience = patient, isPart = false } = {},
  ) {
    let called = 0;
    const overrides = new Set<unknown>();
    const server = await serve(({ url = '', headers: asked }, response) => {
      overrides.add(asked['cloudflare-workers-version-overrides']);
      const isChanged = called++ < calls;
      const [status, body, headers = url.startsWith('/api/') ? api : html] =
        (isChanged && change[url]) || inOrder[url]!;
      response
        .writeHead(status, {
          ...headers,
          connection: 'close',
          'x-version': isChanged ? id : 'v2',
        })
        .end(body);
    });
    const problem = await smoke({ siteUrl: server.url, version: deployed, isPart }, page, patience);
    await server.close();
    return { problem, overrides: [...overrides] };
  }

  it('is content with a healthy API of this version, a refusal and the page of this build', async () => {
    expect(await look({})).toEqual({
      problem: null,
      overrides: [undefined],
    });
  });

  it('asks Cloudflare for the version that only a part of the users gets', async () => {
    expect(await look({}, { isPart: true })).toEqual({
      problem: null,
      overrides: ['solace="v2"'],
    });
  });

  it('waits until the new version has arrived', async () => {
    expect(await look({ '/': [200, 'the old page'] }, { id: 'v1', calls: 5 })).toMatchObject({
      problem: null,
    });
  });

  it.each<[what: string, change: Site, said: RegExp, id?: string]>([
    [
      'a database that fails',
      { '/api/health': [503, '{"status":"degraded"}'] },
      /health answers 503/,
    ],
    ['another version', {}, /is of the version v1, not v2/, 'v1'],
    [
      'an API that lets strangers in',
      { '/api/user/me': [200, '{"success":true}'] },
      /me answers 200 to somebody/,
    ],
    [
      'an API that fails behind the health check',
      { '/api/user/me': [500, '{}'] },
      /me answers 500 to somebody/,
    ],
    ['a page that fails', { '/': [500, ''] }, /\/ answers 500/],
    [
      'a challenge of the bot',
      { '/api/bot/usage': [403, '', { ...html, 'cf-mitigated': 'challenge' }] },
      /bot\/usage of the bot gets a challenge page\. Turn Bot Fight Mode/,
    ],
    [
      'a challenge page without its header',
      { '/api/webhooks/stripe': [503, '<title>Just a moment...</title>', html] },
      /of Stripe gets a challenge page/,
    ],
    [
      'a firewall',
      { '/api/webhooks/stripe': [403, '<h1>Access denied</h1>', html] },
      /of Stripe is refused by a firewall/,
    ],
    [
      'a redirect',
      { '/api/bot/usage': [301, '', { location: 'https://www.solace.example/' }] },
      /is redirected to https:\/\/www\.solace\.example\//,
    ],
    [
      'HTML instead of JSON',
      { '/api/auth/verify-otp': [200, '<html>', html] },
      /signs in gets HTML instead of JSON/,
    ],
    [
      'a cache',
      { '/api/user/usage-stream?token=none': [401, '', { ...api, 'cf-cache-status': 'HIT' }] },
      /an open page is answered by a cache/,
    ],
    [
      'a header that is lost',
      { '/api/bot/usage': [...refusal(401, 'invalid_signature'), { 'x-request-id': '1' }] },
      /lacks the header `cache-control: no-store`/,
    ],
    [
      'another program at the address',
      { '/api/bot/usage': [404, '{"error":"no"}', api] },
      /gets 404 without JSON, not 401 invalid_signature/,
    ],
    [
      'hidden e-mail addresses',
      { '/contact': [200, '<span class="__cf_email__">[email&#160;protected]</span>', html] },
      /\/contact has its e-mail addresses hidden/,
    ],
    [
      'a support address that is missing',
      { '/contact': [200, '', html] },
      /\/contact does not show the support address/,
    ],
    [
      'Rocket Loader',
      { '/login': [200, '<script src="/cdn-cgi/scripts/x/rocket-loader.min.js">', html] },
      /\/login has its scripts changed by Rocket Loader/,
    ],
    [
      'an added script',
      { '/help-now': [200, '<script src="/cdn-cgi/challenge/x.js">', html] },
      /\/help-now has a script of Cloudflare added/,
    ],
    [
      'a page without its policy',
      { '/login': [200, '', { 'content-type': 'text/html' }] },
      /\/login lacks the header `content-security-policy`/,
    ],
    ['a page of another build', { '/': [200, 'other'] }, /without \/assets\/index-1a2b/],
  ])('names %s', async (_, change, said, id = 'v2') => {
    expect(
      (
        await look(change, {
          id,
          patience: once,
        })
      ).problem,
    ).toMatch(said);
  });

  it('names a site that does not answer', async () => {
    const silent = { siteUrl: 'http://127.0.0.1:1', version: deployed };
    expect(await smoke(silent, page, once)).toMatch(/does not answer/);
  });
});
