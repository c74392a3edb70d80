import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { version, smoke } from '../../worker/operations/deploy/new-version.ts';
import { serve } from './test-product.ts';

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
