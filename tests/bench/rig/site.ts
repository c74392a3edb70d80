import { globSync, readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { getMimeType } from 'hono/utils/mime';
import { consentVersion } from '#contract/chat-limits';
import { callJson } from '../../product/machine.ts';
import { startProduct } from '../../product/start-product.ts';
import { listen } from '../../sandbox/stripe/listen.ts';
import { root, stateDir } from './settings.ts';

const compressible = /\.(?:html|js|css|svg|json|webmanifest|txt|xml)$/;

/**
 * Serves the built website from memory, by brotli and with the headers of its `_headers`; `extra` pages lie beside it.
 * Calls of the API go on to `api`.
 */
export async function startSite(extra: Record<string, string>, api?: string) {
  const files = readFiles(join(root, 'dist/web'), extra);
  const server = await listen(0);
  server.serve((request, response) => {
    if (api && request.url!.startsWith('/api/')) return forward(request, response, api);
    const file = files.get(request.url!.split('?')[0]!);
    response.writeHead(file ? 200 : 404, file?.headers).end(file?.body);
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    stop: () => server.close(),
  };
}

function forward(request: IncomingMessage, response: ServerResponse, api: string): void {
  const { method, headers } = request;
  const onward = httpRequest(new URL(request.url!, api), { method, headers }, (answer) => {
    answer.pipe(response.writeHead(answer.statusCode!, answer.headers));
  });
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  request.pipe(onward);
}

type File = { body: Uint8Array; headers: Record<string, string> };

function readFiles(directory: string, extra: Record<string, string>): Map<string, File> {
  const rules = readRules(readFileSync(join(directory, '_headers'), 'utf8'));
  const fileOf = (name: string, content: Uint8Array): [string, File] => {
    const path = `/${name.replace(/(?:^|(?<=\/))index\.html$|\.html$/, '')}`;
    const packed = compressible.test(name);
    const own = rules.filter(({ pattern }) => pattern.test({ pathname: path }));
    const headers = {
      'content-type': getMimeType(name) ?? 'application/octet-stream',
      'cache-control': 'public, max-age=0, must-revalidate',
      ...(packed && { 'content-encoding': 'br' }),
      ...Object.assign({}, ...own.map((rule) => rule.headers)),
    };
    return [path, { body: packed ? brotliCompressSync(content) : content, headers }];
  };
  const entries = globSync('**/*', {
    cwd: directory,
    withFileTypes: true,
  });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const built = paths.map((path) => fileOf(path.slice(directory.length + 1), readFileSync(path)));
  return new Map([
    ...built,
    ...Object.entries(extra).map(([name, text]) => fileOf(name, Buffer.from(text))),
  ]);
}

type Rule = { pattern: URLPattern; headers: Record<string, string> };

/** Blocks of a path, where `*` stands for anything and `:name` for one part, and indented headers. A later block wins, so `! Header` adds nothing. */
function readRules(text: string): Rule[] {
  const rules: Rule[] = [];
  for (const line of text.split('\n').filter((line) => line.trim() && !/^(?:#|\s+!)/.test(line))) {
    const header = /^\s+([\w-]+):\s*(.*)$/.exec(line);
    if (header) rules.at(-1)!.headers[header[1]!.toLowerCase()] = header[2]!;
    else
      rules.push({
        pattern: new URLPattern({ pathname: line.trim() }),
        headers: {},
      });
  }
  return rules;
}

export type SignedIn = {
  url: string;
  token: string;
  stop: () => Promise<void>;
};

/** The product as its own site, compressed as Cloudflare serves it, and the session of a user who has a conversation. */
export async function startSignedIn(): Promise<SignedIn> {
  await using starting = new AsyncDisposableStack();
  const product = await startProduct({
    stateDir: join(stateDir, 'signed-in'),
    reset: true,
    build: false,
  });
  starting.defer(product.close);
  const site = await startSite({}, product.siteUrl);
  starting.defer(site.stop);
  const token = await signIn(product.siteUrl, product.sandboxUrl);
  const running = starting.move();
  return {
    url: site.url,
    token,
    stop: () => running.disposeAsync(),
  };
}

const phone = '+15551230000';
const exchanges = 4;

async function signIn(siteUrl: string, sandboxUrl: string): Promise<string> {
  const send = (url: string, body: object, token?: string) =>
    callJson<Record<string, string>>('POST', url, body, token);
  const ofPhone = `${sandboxUrl}/phones/${encodeURIComponent(phone)}`;
  // The session of a trial link cannot open the conversation.
  const external = await send(`${ofPhone}/external-token`, {});
  const { token } = await send(`${siteUrl}/api/auth/verify-external-token`, external);
  await send(`${ofPhone}/messages`, { text: 'Hi' });
  const { url } = await send(`${ofPhone}/trial`, { tier: 'premium' });
  await send(`${siteUrl}/auth/verify-trial-token`, {
    trialToken: new URL(url!).searchParams.get('token'),
  });
  await callJson('PUT', `${siteUrl}/api/user/chat/consent`, { version: consentVersion }, token);
  for (let number = 1; number <= exchanges; number += 1) {
    const message = {
      id: crypto.randomUUID(),
      text: `What I thought of today, number ${number}.`,
    };
    await send(`${siteUrl}/api/user/chat/messages`, message, token);
  }
  return token!;
}
