import { httpRequest } from './doctor-finding.ts';

export type Obstacle = { what: string; remedy: string };
export type Problem = Obstacle & { about: string };

/** `headers` go with every request. */
export type Site = { siteUrl: string; headers?: Record<string, string> };

/** A call that the API refuses; nothing of it changes anything. */
export type Probe = {
  who: string;
  method: 'GET' | 'POST';
  path: string;
  agent: string;
  headers?: Record<string, string>;
  body?: string;
  /** The refusal: status and code. */
  status: number;
  code: string;
  /** What helps if the API refuses the call in another way. */
  remedy?: string;
};

export const browser =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36';

const botRules =
  'Turn Bot Fight Mode and challenges off for this zone, or skip them for /api/* in a WAF rule.';
export const ruleOf = 'Remove the rule of the Cloudflare zone that does this.';
/** The largest body takes so long on a slow line. */
const uploadMs = 60_000;

export async function problemsOfCall(site: Site, probe: Probe): Promise<Problem[]> {
  const { who, method, path, agent, body = '{}' } = probe;
  const init = {
    method,
    headers: {
      ...site.headers,
      'user-agent': agent,
      'content-type': 'application/json',
      ...probe.headers,
    },
    redirect: 'manual',
    ...(method === 'POST' && { body }),
  } as const;
  const response = await httpRequest(site.siteUrl + path, init, uploadMs);
  const about = `${method} ${path.split('?')[0]} of ${who}`;
  if ('failure' in response) return [{ about, ...noResponse(response.failure) }];

  const text = await response.text().catch(() => '');
  const size = Math.round(body.length / 1024);
  const obstacle =
    tooLarge(response, size) ?? obstacleOf(response, text) ?? wrongResponse(response, text, probe);
  return obstacle ? [{ about, ...obstacle }] : [];
}

function tooLarge({ status }: Response, kib: number): Obstacle | null {
  if (status !== 413) return null;
  return {
    what: `may not send ${kib} KiB`,
    remedy: 'Let what stands before the Worker pass bodies of 3 MB.',
  };
}

export function obstacleOf({ status, headers }: Response, text: string): Obstacle | null {
  if (status >= 300 && status < 400)
    return {
      what: `is redirected to ${headers.get('location') ?? 'another address'}`,
      remedy: 'Write the final address as SITE_URL, and remove the redirect for it.',
    };
  if (headers.get('cf-mitigated') === 'challenge' || isChallenge.test(text))
    return { what: 'gets a challenge page', remedy: botRules };
  if (status === 403 && isHtml(headers))
    return { what: 'is refused by a firewall', remedy: botRules };
  if (isFromCache(headers) && !isHtml(headers))
    return {
      what: 'is answered by a cache',
      remedy: 'Let no cache rule cover /api/*.',
    };
  return null;
}

const isChallenge = /challenge-platform|cf[-_]chl|<title>Just a moment/;
const isHtml = (headers: Headers) => (headers.get('content-type') ?? '').includes('text/html');

function isFromCache(headers: Headers): boolean {
  const cacheStatus = headers.get('cf-cache-status') ?? '';
  const isHit = /^(HIT|STALE|REVALIDATED|UPDATING)$/.test(cacheStatus);
  return isHit || Number(headers.get('age') ?? 0) > 0;
}

function wrongResponse(
  { status, headers }: Response,
  text: string,
  expected: Probe,
): Obstacle | null {
  if (isHtml(headers))
    return {
      what: `gets HTML instead of JSON (${status})`,
      remedy: ruleOf,
    };
  if (codeOf(text) !== expected.code || status !== expected.status)
    return {
      what: `gets ${status} ${codeOf(text) ?? 'without JSON'}, not ${expected.status} ${expected.code}`,
      remedy: expected.remedy ?? 'Look whether this Worker answers at the address, and at its log.',
    };
  if (!headers.has('x-request-id')) return missingHeader('x-request-id');
  const cacheControl = headers.get('cache-control') ?? '';
  return cacheControl.includes('no-store') ? null : missingHeader('cache-control: no-store');
}

function codeOf(text: string): string | null {
  try {
    const { code } = JSON.parse(text) as { code?: unknown };
    return typeof code === 'string' ? code : null;
  } catch {
    return null;
  }
}

export const missingHeader = (name: string): Obstacle => ({
  what: `lacks the header \`${name}\``,
  remedy: 'Remove the rule of the Cloudflare zone that changes headers.',
});

export const noResponse = (failure: string): Obstacle => ({
  what: `gets no answer (${failure})`,
  remedy: 'Look at the status page of Cloudflare, and at the routes of the Worker.',
});
