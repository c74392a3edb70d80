import { createHash } from 'node:crypto';
import { brand } from '../../contract/brand.ts';
import type { Settings } from '../../settings.ts';
import type { Target } from '../owner-command.ts';
import { fine, httpRequest, warning, wrong, type Finding } from './doctor-finding.ts';
import {
  browser,
  missingHeader,
  type Obstacle,
  obstacleOf,
  type Probe,
  type Problem,
  problemsOfCall,
  ruleOf,
  type Site,
  noResponse,
} from './probe.ts';
import { type CallerSecrets, problemsOfSigned } from './signed-calls.ts';

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

/**
 * Everything that stands in the way of the site's callers; null if the
 * site does not answer at all. With secrets it sends signed calls, too.
 */
export async function problemsOutside(
  site: Site,
  secrets: CallerSecrets | null,
): Promise<Problem[] | null> {
  const { siteUrl, headers = {} } = site;
  const first = await httpRequest(`${siteUrl}/api/health`, {
    headers,
    redirect: 'manual',
  });
  if ('failure' in first) return null;
  await first.body?.cancel();
  const found = await Promise.all([
    ...calls.map((probe) => problemsOfCall(site, probe)),
    ...pages.map((path) => problemsOfPage(site, path)),
    problemsOfHead(site),
    secrets ? problemsOfSigned(site, secrets) : [],
  ]);
  return found.flat();
}

/** Monitors and previews of links ask for the head alone. */
async function problemsOfHead({ siteUrl, headers }: Site): Promise<Problem[]> {
  const about = 'HEAD / of a monitor';
  const response = await httpRequest(`${siteUrl}/`, {
    method: 'HEAD',
    headers: { ...headers, 'user-agent': 'UptimeRobot/2.0' },
    redirect: 'manual',
  });
  if ('failure' in response) return [{ about, ...noResponse(response.failure) }];
  const obstacle = obstacleOf(response, '');
  if (obstacle) return [{ about, ...obstacle }];
  const { status } = response;
  return status === 200
    ? []
    : [
        {
          about,
          what: `gets ${status}`,
          remedy: ruleOf,
        },
      ];
}

async function problemsOfPage({ siteUrl, headers }: Site, path: string): Promise<Problem[]> {
  const response = await httpRequest(siteUrl + path, {
    headers: {
      ...headers,
      'user-agent': browser,
      accept: 'text/html',
    },
    redirect: 'manual',
  });
  const about = `The page ${path}`;
  if ('failure' in response) return [{ about, ...noResponse(response.failure) }];
  const html = await response.text().catch(() => '');
  const obstacle = obstacleOf(response, html);
  const problems = obstacle ? [obstacle] : changesOf(path, response, html);
  return problems.map((each) => ({ about, ...each }));
}

function changesOf(path: string, { status, headers }: Response, html: string): Obstacle[] {
  const known = transformations.filter(({ pattern }) => pattern.test(html));
  const problems: Obstacle[] = known.map(({ what, remedy }) => ({
    what,
    remedy,
  }));
  const policy = headers.get('content-security-policy');

  if (status !== 200)
    problems.push({
      what: `answers ${status}`,
      remedy: ruleOf,
    });

  if (policy === null) problems.push(missingHeader('content-security-policy'));
  else if (known.length === 0 && hasForeignScript(html, policy))
    problems.push({
      what: 'has a script that its policy refuses',
      remedy: 'Turn off what changes pages or adds scripts to them.',
    });

  if (path === '/contact' && !html.includes(brand.supportEmail))
    problems.push({
      what: 'does not show the support address',
      remedy: 'Turn Email Address Obfuscation off in Cloudflare (Scrape Shield).',
    });

  return problems;
}

function hasForeignScript(html: string, policy: string): boolean {
  const scripts = html.matchAll(
    /<script(?: type="(?:text\/javascript|module)")?>([\s\S]*?)<\/script>/g,
  );
  return [...scripts].some(([, code = '']) => {
    const hash = createHash('sha256').update(code).digest('base64');
    return !policy.includes(`'sha256-${hash}'`);
  });
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

/**
 * The doctor's look at the site from outside.
 * On the owner's machine the site may not run.
 */
export async function checkOutside(
  { SITE_URL: siteUrl }: Pick<Settings, 'SITE_URL'>,
  target: Target,
  secrets: CallerSecrets | null,
): Promise<Finding[]> {
  const problems = await problemsOutside({ siteUrl }, secrets);
  if (problems === null && target === 'local')
    return [fine('The site does not run on this machine, so that nobody asked it from outside')];
  if (problems === null)
    return [
      warning(
        'The site from outside',
        `${siteUrl} does not answer`,
        'Deploy it, or look at its domain and routes in Cloudflare.',
      ),
    ];
  if (problems.length === 0)
    return [fine('A bot, Stripe and a person reach the site, and nothing changes its pages')];
  return problems.map(({ about, what, remedy }) => wrong(about, what, remedy));
}
