import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { deployTo } from '../../worker/operations/deploy/deployment.ts';
import { fine, wrong, type Finding } from '../../worker/operations/doctor/finding.ts';
import { buildEnvironment, version, smoke } from '../../worker/operations/deploy/new-version.ts';
import { serve } from './test-services.ts';

const values = { SITE_URL: 'https://solace.example', TURSO_DATABASE_URL: 'libsql://x', TURSO_AUTH_TOKEN: 't' };

type Failing = { runChecks?: Finding; publish?: true; smoke?: string };

/** Deploys with stub tools that record their calls; each can be made to fail. */
async function rehearse(
  failing: Failing = {},
  target: 'preview' | 'production' = 'preview',
  CONTACT_URL = '',
  flag = false,
) {
  const steps: string[] = [];
  const said: string[] = [];
  const step = <T>(name: string, answer: T) => {
    steps.push(name);
    return Promise.resolve(answer);
  };
  const tools = {
    runChecks: (_, { mayBeBehind }) => step(`runChecks ${mayBeBehind}`, [failing.runChecks ?? fine('All')]),
    migrate: (url, token) => step(`migrate ${url} ${token}`, undefined),
    wrangler: ([command, , environment]) =>
      step(`${command} ${environment}`, { ok: !failing.publish, output: '', version: { id: 'v2', worker: 'solace' } }),
    smoke: ({ siteUrl, version: deployed }) => step(`smoke ${siteUrl} ${deployed?.id}`, failing.smoke ?? null),
    say: (line) => said.push(line),
  } satisfies Parameters<typeof deployTo>[2];
  const done = await deployTo(target, { ...values, CONTACT_URL }, tools, flag);
  return { done, steps, said: said.join('\n') };
}

describe('a deployment', () => {
  const steps = ['runChecks true', 'migrate libsql://x t', 'deploy preview', 'smoke https://solace.example v2'];

  it('checks, migrates, deploys and looks, in this order', async () => {
    expect(await rehearse()).toMatchObject({ done: true, steps });
  });

  it.each<[what: string, failing: Failing, steps: string[], said: RegExp]>([
    [
      'changes nothing when a check fails',
      { runChecks: wrong('X', 'is malformed', '') },
      steps.slice(0, 1),
      /Nothing was changed\./,
    ],
    ['does not look at what was not deployed', { publish: true }, steps.slice(0, 3), /./],
    [
      'says in one line how to go back when the new version does not serve',
      { smoke: '/ answers 500' },
      steps,
      /^Go back with: npx wrangler rollback --env preview --yes$/m,
    ],
  ])('%s', async (_, failing, expected, said) => {
    expect(await rehearse(failing)).toEqual({ done: false, steps: expected, said: expect.stringMatching(said) });
  });

  it('to production needs CONTACT_URL, or the flag that lets it pass', async () => {
    const said = expect.stringContaining('--without-contact');
    expect(await rehearse({}, 'production')).toEqual({ done: false, steps: [], said });
    expect(await rehearse({}, 'production', 'https://forms.example')).toMatchObject({ done: true });
    expect(await rehearse({}, 'production', '', true)).toMatchObject({ done: true });
  });
});

it('gives the address of the contact form to the build', () => {
  expect(buildEnvironment({ CONTACT_URL: 'https://forms.example' })['VITE_CONTACT_URL']).toBe('https://forms.example');
  expect(buildEnvironment({})['VITE_CONTACT_URL']).toBeUndefined();
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
  type Site = Record<string, [status: number, body: string]>;
  const inOrder: Site = {
    '/': [200, page],
    '/api/health': [200, '{"status":"ok","checks":{"database":"ok"}}'],
    '/api/user/me': [401, '{"success":false,"code":"unauthenticated"}'],
  };

  /** What the look says about a site that differs for some calls, and the versions that it asked for. */
  async function look(change: Site, { id = 'v2', calls = Infinity, patience = patient, isPart = false } = {}) {
    let called = 0;
    const overrides = new Set<unknown>();
    const server = await serve(({ url = '', headers }, response) => {
      overrides.add(headers['cloudflare-workers-version-overrides']);
      const isChanged = called++ < calls;
      const [status, body] = (isChanged && change[url]) || inOrder[url]!;
      response.writeHead(status, { connection: 'close', 'x-version': isChanged ? id : 'v2' }).end(body);
    });
    const problem = await smoke({ siteUrl: server.url, version: deployed, isPart }, page, patience);
    await server.close();
    return { problem, overrides: [...overrides] };
  }

  it('is content with a healthy API of this version, a refusal and the page of this build', async () => {
    expect(await look({})).toEqual({ problem: null, overrides: [undefined] });
  });

  it('asks Cloudflare for the version that only a part of the users gets', async () => {
    expect(await look({}, { isPart: true })).toEqual({ problem: null, overrides: ['solace="v2"'] });
  });

  it('waits until the new version has arrived', async () => {
    expect(await look({ '/': [200, 'the old page'] }, { id: 'v1', calls: 5 })).toMatchObject({ problem: null });
  });

  it.each<[what: string, change: Site, said: RegExp, id?: string]>([
    ['a database that fails', { '/api/health': [503, '{"status":"degraded"}'] }, /health answers 503/],
    ['another version', {}, /is of the version v1, not v2/, 'v1'],
    ['an API that lets strangers in', { '/api/user/me': [200, '{"success":true}'] }, /me answers 200 to somebody/],
    ['an API that fails behind the health check', { '/api/user/me': [500, '{}'] }, /me answers 500 to somebody/],
    ['a page that fails', { '/': [500, ''] }, /\/ answers 500/],
    ['a page of another build', { '/': [200, 'other'] }, /without \/assets\/index-1a2b/],
  ])('names %s', async (_, change, said, id = 'v2') => {
    expect((await look(change, { id, patience: once })).problem).toMatch(said);
  });

  it('names a site that does not answer', async () => {
    const silent = { siteUrl: 'http://127.0.0.1:1', version: deployed };
    expect(await smoke(silent, page, once)).toMatch(/does not answer/);
  });
});
