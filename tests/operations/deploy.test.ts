import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { deployTo } from '../../worker/operations/deploy/deployment.ts';
import { fine, wrong, type Finding } from '../../worker/operations/doctor/finding.ts';
import { buildEnvironment, version, smoke } from '../../worker/operations/deploy/new-version.ts';
import { serve } from './test-services.ts';

const values = { SITE_URL: 'https://solace.example', TURSO_DATABASE_URL: 'libsql://x', TURSO_AUTH_TOKEN: 't' };

type Deployment = { target?: 'preview' | 'production'; contact?: string; withoutContact?: boolean };

/** Deploys with stub tools that record their calls; each can be made to fail. */
async function rehearse(
  failing: { runChecks?: Finding; publish?: true; smoke?: string } = {},
  { target = 'preview', contact = '', withoutContact = false }: Deployment = {},
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
  const done = await deployTo(target, { ...values, CONTACT_URL: contact }, tools, withoutContact);
  return { done, steps, said: said.join('\n') };
}

describe('a deployment', () => {
  it('checks, migrates, deploys and looks, in this order', async () => {
    const steps = ['runChecks true', 'migrate libsql://x t', 'deploy preview', 'smoke https://solace.example v2'];
    expect(await rehearse()).toMatchObject({ done: true, steps });
  });

  it('changes nothing when a check fails', async () => {
    const { said, ...rest } = await rehearse({ runChecks: wrong('APPROVAL', 'is malformed', 'Mend it.') });
    expect(rest).toEqual({ done: false, steps: ['runChecks true'] });
    expect(said).toContain('Nothing was changed.');
  });

  it('does not look at what was not deployed', async () => {
    const { done, steps } = await rehearse({ publish: true });
    expect({ done, last: steps.at(-1) }).toEqual({ done: false, last: 'deploy preview' });
  });

  it('says in one line how to go back when the new version does not serve', async () => {
    const said = expect.stringMatching(/^Go back with: npx wrangler rollback --env preview --yes$/m);
    expect(await rehearse({ smoke: '/ answers 500' })).toMatchObject({ done: false, said });
  });

  it('to production changes nothing without CONTACT_URL, and says which flag lets it pass', async () => {
    const { said, ...rest } = await rehearse({}, { target: 'production' });
    expect(rest).toEqual({ done: false, steps: [] });
    expect(said).toContain('--without-contact');
  });

  it.each([{ contact: 'https://forms.example' }, { withoutContact: true }])(
    'to production goes on with %o',
    async (given) => {
      expect(await rehearse({}, { target: 'production', ...given })).toMatchObject({ done: true });
    },
  );
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
  /** Only a failure reaches its end. */
  const patient = { forMs: 60_000, pauseMs: 1 };
  const once = { forMs: 0, pauseMs: 0 };
  const deployed = { id: 'v2', worker: 'solace' };
  type Answer = [status: number, body: string];
  type Site = { health?: Answer; stranger?: Answer; home?: Answer; version?: string };

  const inOrder = {
    health: [200, '{"status":"ok","checks":{"database":"ok"}}'],
    stranger: [401, '{"success":false,"code":"unauthenticated"}'],
    home: [200, page],
    version: 'v2',
  } satisfies Site;

  /** What the look says about a site, which may differ with each call; and the headers that it sent. */
  async function look(siteAt: (calls: number) => Site, { isPart = false, patience = patient } = {}) {
    let calls = 0;
    const overrides = new Set<unknown>();
    const server = await serve(({ url, headers }, response) => {
      calls += 1;
      overrides.add(headers['cloudflare-workers-version-overrides']);
      const site = { ...inOrder, ...siteAt(calls) };
      const [status, body] = url === '/' ? site.home : url === '/api/health' ? site.health : site.stranger;
      response.writeHead(status, { connection: 'close', 'x-version': site.version }).end(body);
    });
    const problem = await smoke({ siteUrl: server.url, version: deployed, isPart }, page, patience);
    await server.close();
    return { problem, overrides: [...overrides] };
  }

  it('is content with a healthy API of this version, a refusal and the page of this build', async () => {
    expect(await look(() => ({}))).toEqual({ problem: null, overrides: [undefined] });
  });

  it('asks Cloudflare for the version that only a part of the users gets', async () => {
    expect(await look(() => ({}), { isPart: true })).toEqual({ problem: null, overrides: ['solace="v2"'] });
  });

  it('waits until the new version has arrived', async () => {
    const { problem } = await look((calls) => (calls < 6 ? { home: [200, 'the old page'], version: 'v1' } : {}));
    expect(problem).toBeNull();
  });

  it.each([
    ['a database that fails', { health: [503, '{"status":"degraded"}'] }, /health answers 503/],
    ['another version', { version: 'v1' }, /is of the version v1, not v2/],
    ['an API that lets strangers in', { stranger: [200, '{"success":true}'] }, /user\/me answers 200 to somebody/],
    ['an API that fails behind the health check', { stranger: [500, '{}'] }, /user\/me answers 500 to somebody/],
    ['a page that fails', { home: [500, ''] }, /\/ answers 500/],
    ['a page of another build', { home: [200, 'other'] }, /without \/assets\/index-1a2b/],
  ] as [string, Site, RegExp][])('names %s', async (_, site, said) => {
    expect((await look(() => site, { patience: once })).problem).toMatch(said);
  });

  it('names a site that does not answer', async () => {
    const silent = { siteUrl: 'http://127.0.0.1:1', version: deployed };
    expect(await smoke(silent, page, once)).toMatch(/does not answer/);
  });
});
