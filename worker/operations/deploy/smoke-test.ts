import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { httpRequest } from '../doctor/http-request.ts';

const builtPage = new URL('../../../dist/web/index.html', import.meta.url);

type Patience = { forMs: number; pauseMs: number };

/**
 * The problem of a deployed site, or null. Repeats the test, since a new version takes time to reach every location.
 */
export async function smoke(
  siteUrl: string,
  page = readFileSync(builtPage, 'utf8'),
  { forMs, pauseMs }: Patience = { forMs: 90_000, pauseMs: 3000 },
): Promise<string | null> {
  const until = Date.now() + forMs;
  let problem = await probe(siteUrl, page);
  while (problem && Date.now() < until) {
    await wait(pauseMs);
    problem = await probe(siteUrl, page);
  }
  return problem;
}

async function probe(siteUrl: string, page: string): Promise<string | null> {
  const health = await textOf(`${siteUrl}/api/health`);
  if (!health.text.includes('"status":"ok"')) return `${siteUrl}/api/health ${health.was}`;
  const home = await textOf(`${siteUrl}/`);
  const script = /\/assets\/[\w.-]+\.js/.exec(page)?.[0] ?? '';
  return home.text.includes(script) ? null : `${siteUrl}/ ${home.was}, without ${script} of this build`;
}

async function textOf(url: string): Promise<{ text: string; was: string }> {
  const response = await httpRequest(url);
  if ('failure' in response) return { text: '', was: `does not answer (${response.failure})` };
  const text = await response.text().catch(() => '');
  return { text: response.ok ? text : '', was: `answers ${response.status}` };
}
