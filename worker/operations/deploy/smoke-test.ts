import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { httpRequest } from '../doctor/http-request.ts';
import type { Version } from './wrangler.ts';

const builtPage = new URL('../../../dist/web/index.html', import.meta.url);

export type Patience = { forMs: number; pauseMs: number };

/** What is looked at: a site, and the version that must respond. */
export type Look = {
  siteUrl: string;
  /** Null where Wrangler did not name it. */
  version: Version | null;
  /** Asks Cloudflare for this version, which only a part of the users gets. */
  isPart?: boolean;
};

/**
 * The problem of a deployed site, or null. Repeats the test, since a new version takes time to reach every location.
 */
export async function smoke(
  look: Look,
  page = readFileSync(builtPage, 'utf8'),
  { forMs, pauseMs }: Patience = { forMs: 90_000, pauseMs: 3000 },
): Promise<string | null> {
  const until = Date.now() + forMs;
  let problem = await probe(look, page);
  while (problem && Date.now() < until) {
    await wait(pauseMs);
    problem = await probe(look, page);
  }
  return problem;
}

async function probe({ siteUrl, version, isPart }: Look, page: string): Promise<string | null> {
  // Cloudflare's header works only for versions of the present deployment.
  const headers: Record<string, string> =
    isPart && version ? { 'Cloudflare-Workers-Version-Overrides': `${version.worker}="${version.id}"` } : {};
  const get = (path: string) => responseOf(`${siteUrl}${path}`, headers);

  const health = await get('/api/health');
  if (!health.text.includes('"status":"ok"')) return `${siteUrl}/api/health ${health.was}`;
  if (version && health.version !== version.id)
    return `${siteUrl}/api/health is of the version ${health.version ?? 'without an id'}, not ${version.id}`;
  const stranger = await get('/api/user/me');
  if (stranger.status !== 401 || !stranger.text.includes('"unauthenticated"'))
    return `${siteUrl}/api/user/me ${stranger.was} to somebody who is not signed in, not 401`;
  const home = await get('/');
  const script = /\/assets\/[\w.-]+\.js/.exec(page)?.[0] ?? '';
  return home.text.includes(script) ? null : `${siteUrl}/ ${home.was}, without ${script} of this build`;
}

type Seen = { status: number | null; text: string; was: string; version: string | null };

async function responseOf(url: string, headers: Record<string, string>): Promise<Seen> {
  const response = await httpRequest(url, { headers });
  if ('failure' in response)
    return { status: null, text: '', was: `does not answer (${response.failure})`, version: null };
  const text = await response.text().catch(() => '');
  return {
    status: response.status,
    text,
    was: `answers ${response.status}`,
    version: response.headers.get('x-version'),
  };
}
