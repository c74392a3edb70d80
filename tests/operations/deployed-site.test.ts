import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { problemsOutside } from '../../worker/operations/doctor/deployed-site.ts';
import { callerSecretsIn } from '../../worker/operations/doctor/signed-calls.ts';
import { serve, startTestProduct } from './test-product.ts';

const { siteUrl, vars, close } = await startTestProduct();
afterAll(close);
const secrets = callerSecretsIn(vars);

it('nothing stands between the running product and its callers', async () => {
  expect(secrets).not.toBeNull();
  expect(await problemsOutside({ siteUrl }, secrets)).toEqual([]);
});

it('a site that does not answer has no problems to name', async () => {
  expect(await problemsOutside({ siteUrl: 'http://127.0.0.1:1' }, secrets)).toBeNull();
});

type Headers = Record<string, string | string[] | undefined>;

/** What a proxy before the Worker does; without a part it passes everything on. */
type Proxy = {
  /** Responds in place of the site. */
  instead?: (asked: IncomingMessage) => [status: number, headers: Headers, body: string] | null;
  /** Changes what the site is asked. */
  asking?: (headers: Headers) => Headers;
  /** Changes what the site responds. */
  headers?: (headers: Headers, asked: IncomingMessage) => Headers;
  /** Changes a body as a whole, of what is asked and of what is responded. */
  askedBody?: (body: string) => string;
  body?: (body: string) => string;
};

/** Stands before the running product until the test ends. */
async function behind(proxy: Proxy): Promise<string> {
  const pass = async (asked: IncomingMessage, response: ServerResponse) => {
    const [status, headers, body] = proxy.instead?.(asked) ?? [];
    if (status)
      return asked.resume().on('end', () => response.writeHead(status, headers).end(body));

    const { method } = asked;
    const whole = proxy.body ? without(asked.headers, 'accept-encoding') : asked.headers;
    const passed = proxy.asking?.(whole) ?? whole;
    const forwarded = request(siteUrl + asked.url, {
      method,
      headers: passed,
    });
    response.on('close', () => forwarded.destroy());
    forwarded.on('error', () => response.destroy());
    forwarded.on('response', (found) => void answer(asked, found, response));
    if (proxy.askedBody) forwarded.end(proxy.askedBody(await text(asked)));
    else asked.pipe(forwarded);
  };

  async function answer(asked: IncomingMessage, found: IncomingMessage, response: ServerResponse) {
    const headers = proxy.headers?.(found.headers, asked) ?? found.headers;
    if (!proxy.body) return found.pipe(response.writeHead(found.statusCode!, headers));
    const body = await text(found).catch(() => '');
    response.writeHead(found.statusCode!, without(headers, 'content-length')).end(proxy.body(body));
  }

  const server = await serve((asked, response) => pass(asked, response));
  onTestFinished(() => server.close());
  return server.url;
}

function without(headers: Headers, name: string): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name));
}

const html = { 'content-type': 'text/html' };
const lacks = (name: string, path: RegExp): Proxy => ({
  headers: (headers, { url = '' }) => (path.test(url) ? without(headers, name) : headers),
});
const isOf = (agent: string, asked: IncomingMessage) =>
  asked.headers['user-agent']?.startsWith(agent) ?? false;

it.each<[what: string, proxy: Proxy, said: string[]]>([
  [
    'challenges programs',
    {
      instead: (asked) =>
        isOf('python', asked) ? [403, { ...html, 'cf-mitigated': 'challenge' }, ''] : null,
    },
    [
      'POST /api/bot/usage of the bot gets a challenge page',
      'POST /api/bot/usage of the bot, signed gets a challenge page',
      'POST /api/bot/messages of the bot, signed gets a challenge page',
    ],
  ],
  [
    'challenges Stripe without saying so',
    {
      instead: (asked) =>
        isOf('Stripe', asked) ? [503, html, '<title>Just a moment...</title>'] : null,
    },
    [
      'POST /api/webhooks/stripe of Stripe gets a challenge page',
      'POST /api/webhooks/stripe of Stripe, signed gets a challenge page',
    ],
  ],
  [
    'redirects to another host',
    { instead: ({ url }) => [301, { location: `https://www.solace.example${url}` }, ''] },
    expect.arrayContaining([
      'GET /api/user/me of a person is redirected to https://www.solace.example/api/user/me',
      'HEAD / of a monitor is redirected to https://www.solace.example/',
      'The page /login is redirected to https://www.solace.example/login',
    ]),
  ],
  [
    'caches calls',
    {
      headers: (headers, { url }) =>
        url === '/api/user/me'
          ? {
              ...headers,
              age: '30',
            }
          : headers,
    },
    ['GET /api/user/me of a person is answered by a cache'],
  ],
  [
    'drops a header of calls',
    lacks('cache-control', /^\/api\/user\/me/),
    ['GET /api/user/me of a person lacks the header `cache-control: no-store`'],
  ],
  [
    'drops the policy of a page',
    lacks('content-security-policy', /^\/login/),
    ['The page /login lacks the header `content-security-policy`'],
  ],
  [
    'shows a page of its own for refusals',
    {
      instead: ({ url }) => (url === '/api/user/me' ? [401, html, '<h1>401</h1>'] : null),
    },
    ['GET /api/user/me of a person gets HTML instead of JSON (401)'],
  ],
  [
    'refuses HEAD',
    { instead: ({ method }) => (method === 'HEAD' ? [405, {}, ''] : null) },
    ['HEAD / of a monitor gets 405'],
  ],
  [
    'refuses large bodies',
    {
      instead: ({ headers }) =>
        Number(headers['content-length']) > 2 ** 20 ? [413, html, 'Too large'] : null,
    },
    ['POST /api/bot/messages of the bot, signed may not send 2662 KiB'],
  ],
  [
    'drops tokens',
    { asking: (headers) => without(headers, 'authorization') },
    [
      'POST /api/support/account/phone of the owner, signed gets 401 unauthenticated, not 400 invalid_field',
      'A stream of an open page (/api/support/stream) gets 401',
    ],
  ],
  [
    'drops signatures',
    { asking: (headers) => without(headers, 'webhook-signature') },
    [
      'POST /api/bot/usage of the bot, signed gets 401 invalid_signature, not 400 invalid_field',
      'POST /api/bot/messages of the bot, signed gets 401 invalid_signature, not 400 invalid_field',
    ],
  ],
  [
    'changes what is sent',
    {
      asking: (headers) => without(headers, 'content-length'),
      askedBody: (body) => (body ? `${body} ` : body),
    },
    [
      'POST /api/bot/usage of the bot, signed gets 401 invalid_signature, not 400 invalid_field',
      'POST /api/bot/messages of the bot, signed gets 401 invalid_signature, not 400 invalid_field',
      'POST /api/webhooks/stripe of Stripe, signed gets 400 invalid_signature, not 400 invalid_body',
    ],
  ],
  [
    'adds a script to pages',
    { body: (body) => body.replace('<head>', '<head><script>track()</script>') },
    expect.arrayContaining(['The page /help-now has a script that its policy refuses']),
  ],
  [
    'holds streams back',
    { body: (body) => body },
    ['A stream of an open page (/api/support/stream) gets nothing before it ends'],
  ],
])('names a proxy that %s', async (_, proxy, said) => {
  const found = await problemsOutside({ siteUrl: await behind(proxy) }, secrets);
  const sentences = found!.map(({ about, what }) => `${about} ${what}`);
  expect(sentences).toEqual(said);
  // Each says what to do.
  for (const { remedy } of found!) expect(remedy).toMatch(/^[A-Z].{20,}\.$/);
});
