import { brand } from '../../contract/brand.ts';
import type { Settings } from '../../settings.ts';
import type { Target } from '../owner-command.ts';
import { fine, httpRequest, warning, wrong, type Finding } from './finding.ts';

/** What stands between the site and its callers. */
type Obstacle = { what: string; remedy: string };
export type Problem = Obstacle & { about: string };

type Probe = {
  who: string;
  method: 'GET' | 'POST';
  path: string;
  agent: string;
  /** The API's refusal of the unsigned call: status and code. */
  status: number;
  code?: string;
};

const browser =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36';

/**
 * What a bot, Stripe, Meta, a monitor and a
 * page send; nothing of it changes anything.
 */
const calls: Probe[] = [
  {
    who: 'the bot',
    method: 'POST',
    path: '/api/bot/usage',
    agent: 'python-requests/2.32',
    status: 401,
    code: 'invalid_signature',
  },
  {
    who: 'Stripe',
    method: 'POST',
    path: '/api/webhooks/stripe',
    agent: 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
    status: 400,
    code: 'invalid_signature',
  },
  {
    who: 'a person who signs in',
    method: 'POST',
    path: '/api/auth/verify-otp',
    agent: browser,
    status: 400,
    code: 'invalid_field',
  },
  {
    who: 'a person',
    method: 'GET',
    path: '/api/user/me',
    agent: browser,
    status: 401,
    code: 'unauthenticated',
  },
  {
    who: 'an open page',
    method: 'GET',
    path: '/api/user/usage-stream?token=none',
    agent: browser,
    status: 401,
    code: 'unauthenticated',
  },
];

const pages = ['/', '/help-now', '/contact', '/login'];

const botRules =
  'Turn Bot Fight Mode and challenges off for this zone, or skip them for /api/* in a WAF rule.';
const ruleOf = 'Remove the rule of the Cloudflare zone that does this.';

/**
 * Everything that stands in the way of the site's
 * callers; null if the site does not answer at all.
 */
export async function problemsOutside(
  siteUrl: string,
  headers: Record<string, string> = {},
): Promise<Problem[] | null> {
  const first = await httpRequest(`${siteUrl}/api/health`, { headers, redirect: 'manual' });
  if ('failure' in first) return null;
  await first.body?.cancel();
  const found = await Promise.all([
    ...calls.map((probe) => problemsOfCall(siteUrl, probe, headers)),
    ...pages.map((path) => problemsOfPage(siteUrl, path, headers)),
  ]);
  return found.flat();
}

async function problemsOfCall(
  siteUrl: string,
  { who, method, path, agent, status, code }: Probe,
  headers: Record<string, string>,
): Promise<Problem[]> {
  const response = await httpRequest(siteUrl + path, {
    method,
    headers: { ...headers, 'user-agent': agent, 'content-type': 'application/json' },
    redirect: 'manual',
    ...(method === 'POST' && { body: '{}' }),
  });
  const about = `${method} ${path.split('?')[0]} of ${who}`;
  if ('failure' in response) return [{ about, ...unanswered(response.failure) }];
  const text = await response.text().catch(() => '');
  const obstacle = obstacleOf(response, text) ?? wrongAnswer(response, text, { status, code });
  return obstacle ? [{ about, ...obstacle }] : [];
}

async function problemsOfPage(
  siteUrl: string,
  path: string,
  headers: Record<string, string>,
): Promise<Problem[]> {
  const response = await httpRequest(siteUrl + path, {
    headers: { ...headers, 'user-agent': browser, accept: 'text/html' },
    redirect: 'manual',
  });
  const about = `The page ${path}`;
  if ('failure' in response) return [{ about, ...unanswered(response.failure) }];
  const html = await response.text().catch(() => '');
  const obstacle = obstacleOf(response, html);
  if (obstacle) return [{ about, ...obstacle }];
  const changed = transformations.filter(({ pattern }) => pattern.test(html));
  const problems: Obstacle[] = changed.map(({ what, remedy }) => ({ what, remedy }));
  if (response.status !== 200)
    problems.push({ what: `answers ${response.status}`, remedy: ruleOf });
  if (!response.headers.has('content-security-policy'))
    problems.push(missingHeader('content-security-policy'));
  if (path === '/contact' && !html.includes(brand.supportEmail))
    problems.push({
      what: 'does not show the support address',
      remedy: 'Turn Email Address Obfuscation off in Cloudflare (Scrape Shield).',
    });
  return problems.map((each) => ({ about, ...each }));
}

const transformations = [
  {
    pattern: /__cf_email__|cdn-cgi\/l\/email-protection/,
    what: 'has its e-mail addresses hidden by Cloudflare',
    remedy: 'Turn Email Address Obfuscation off in Cloudflare (Scrape Shield).',
  },
  {
    pattern: /rocket-loader|<script[^>]+type="[\da-f]+-(?:text\/javascript|module)"/,
    what: 'has its scripts changed by Rocket Loader',
    remedy: 'Turn Rocket Loader off in Cloudflare (Speed).',
  },
  {
    pattern: /<script[^>]+(?:cdn-cgi\/(?!l\/email)(?!.*rocket-loader)|static\.cloudflareinsights)/,
    what: 'has a script of Cloudflare added',
    remedy: 'Turn Web Analytics and JavaScript detections off for this zone.',
  },
];

/** What answers in place of our site. */
function obstacleOf({ status, headers }: Response, text: string): Obstacle | null {
  if (status >= 300 && status < 400)
    return {
      what: `is redirected to ${headers.get('location') ?? 'another address'}`,
      remedy: 'Write the final address as SITE_URL, and remove the redirect for it.',
    };
  if (headers.get('cf-mitigated') === 'challenge' || isChallenge.test(text))
    return { what: 'gets a challenge page', remedy: botRules };
  if (status === 403 && isHtml(headers))
    return { what: 'is refused by a firewall', remedy: botRules };
  if (Number(headers.get('age') ?? 0) > 0 && !isHtml(headers))
    return { what: 'is answered by a cache', remedy: 'Let no cache rule cover /api/*.' };
  if (
    /^(HIT|STALE|REVALIDATED|UPDATING)$/.test(headers.get('cf-cache-status') ?? '') &&
    !isHtml(headers)
  )
    return { what: 'is answered by a cache', remedy: 'Let no cache rule cover /api/*.' };
  return null;
}

const isChallenge = /challenge-platform|cf[-_]chl|<title>Just a moment/;
const isHtml = (headers: Headers) => (headers.get('content-type') ?? '').includes('text/html');

function wrongAnswer(
  { status, headers }: Response,
  text: string,
  expected: { status: number; code: string | undefined },
): Obstacle | null {
  if (isHtml(headers)) return { what: `gets HTML instead of JSON (${status})`, remedy: ruleOf };
  if (codeOf(text) !== expected.code || status !== expected.status)
    return {
      what: `gets ${status} ${codeOf(text) ?? 'without JSON'}, not ${expected.status} ${expected.code}`,
      remedy: 'Look whether this Worker answers at the address, and at its log.',
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

const missingHeader = (name: string): Obstacle => ({
  what: `lacks the header \`${name}\``,
  remedy: 'Remove the rule of the Cloudflare zone that changes headers.',
});

const unanswered = (failure: string): Obstacle => ({
  what: `gets no answer (${failure})`,
  remedy: 'Look at the status page of Cloudflare, and at the routes of the Worker.',
});

/**
 * The doctor's look at the site from outside.
 * On the owner's machine the site may not run.
 */
export async function checkOutside(
  { SITE_URL }: Pick<Settings, 'SITE_URL'>,
  target: Target,
): Promise<Finding[]> {
  const problems = await problemsOutside(SITE_URL.replace(/\/+$/, ''));
  if (problems === null && target === 'local')
    return [fine('The site does not run on this machine, so that nobody asked it from outside')];
  if (problems === null)
    return [
      warning(
        'The site from outside',
        `${SITE_URL} does not answer`,
        'Deploy it, or look at its domain and routes in Cloudflare.',
      ),
    ];
  if (problems.length === 0)
    return [fine('A bot, Stripe and a person reach the site, and nothing changes its pages')];
  return problems.map(({ about, what, remedy }) => wrong(about, what, remedy));
}
