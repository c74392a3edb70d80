import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { deployTo } from '../../worker/operations/deploy/deploy-to.ts';
import { fine, wrong, type Finding } from '../../worker/operations/doctor/finding.ts';
import { buildEnvironment, version } from '../../worker/operations/deploy/upload-version.ts';
import { smoke } from '../../worker/operations/deploy/smoke-test.ts';

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
    publish: (target) => step(`publish ${target}`, !failing.publish),
    smoke: (url) => step(`smoke ${url}`, failing.smoke ?? null),
    say: (line) => said.push(line),
  } satisfies Parameters<typeof deployTo>[2];
  const done = await deployTo(target, { ...values, CONTACT_URL: contact }, tools, withoutContact);
  return { done, steps, said: said.join('\n') };
}

describe('a deployment', () => {
  it('checks, migrates, deploys and looks, in this order', async () => {
    const { done, steps } = await rehearse();
    expect(done).toBe(true);
    expect(steps).toEqual([
      'runChecks true',
      'migrate libsql://x t',
      'publish preview',
      'smoke https://solace.example',
    ]);
  });

  it('changes nothing when a check fails', async () => {
    const { done, steps, said } = await rehearse({ runChecks: wrong('APPROVAL', 'is malformed', 'Mend it.') });
    expect({ done, steps }).toEqual({ done: false, steps: ['runChecks true'] });
    expect(said).toContain('Nothing was changed.');
  });

  it('does not look at what was not deployed', async () => {
    const { done, steps } = await rehearse({ publish: true });
    expect(done).toBe(false);
    expect(steps.at(-1)).toBe('publish preview');
  });

  it('says in one line how to go back when the new version does not serve', async () => {
    const { done, said } = await rehearse({ smoke: '/ answers 500' });
    expect(done).toBe(false);
    expect(said).toMatch(/^Go back with: npx wrangler rollback --env preview --yes$/m);
  });
});

describe('a deployment to production without CONTACT_URL', () => {
  it('changes nothing, and says which flag lets it pass', async () => {
    const { done, steps, said } = await rehearse({}, { target: 'production' });
    expect({ done, steps }).toEqual({ done: false, steps: [] });
    expect(said).toContain('--without-contact');
  });

  it.each([{ contact: 'https://forms.example' }, { withoutContact: true }])('goes on with %o', async (given) => {
    expect((await rehearse({}, { target: 'production', ...given })).done).toBe(true);
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
  const patience = { forMs: 400, pauseMs: 20 };

  async function serve(answers: (path: string, calls: number) => [status: number, body: string]) {
    let calls = 0;
    const server = createServer(({ url = '' }, response) => {
      calls += 1;
      const [status, body] = answers(url, calls);
      response.writeHead(status, { connection: 'close' }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const trouble = await smoke(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, page, patience);
    server.close();
    return trouble;
  }
  const healthy = '{"status":"ok","checks":{"database":"ok"}}';

  it('is content with a healthy API and the page of this build', async () => {
    expect(await serve((path) => [200, path === '/' ? page : healthy])).toBeNull();
  });

  it('waits until the new version has arrived', async () => {
    expect(await serve((path, calls) => [200, path !== '/' ? healthy : calls < 6 ? 'the old page' : page])).toBeNull();
  });

  it.each([
    [
      'a database that fails',
      (path: string) => (path === '/' ? [200, page] : [503, '{"status":"degraded"}']),
      /health answers 503/,
    ],
    ['a page that fails', (path: string) => (path === '/' ? [500, ''] : [200, healthy]), /\/ answers 500/],
    [
      'a page of another build',
      (path: string) => [200, path === '/' ? 'other' : healthy],
      /without \/assets\/index-1a2b/,
    ],
  ] as [string, (path: string) => [number, string], RegExp][])('names %s', async (_, answers, said) => {
    expect(await serve(answers)).toMatch(said);
  });

  it('names a site that does not answer', async () => {
    expect(await smoke('http://127.0.0.1:1', page, patience)).toMatch(/does not answer/);
  });
});
