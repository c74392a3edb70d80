import { globSync, readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { getMimeType } from 'hono/utils/mime';
import { consentVersion } from '#contract/chat-limits';
import { freePort } from '../../product/machine.ts';
import { startProduct } from '../../product/start-product.ts';
import { listen } from '../../sandbox/start.ts';
import { root, stateDir } from './settings.ts';

const compressible = /\.(?:html|js|css|svg|json|webmanifest|txt|xml)$/;

/**
 * Serves a built website from memory, by brotli and with the headers of its `_headers`; `extra` pages lie beside it.
 * Calls of the API go on to `api`.
 */
export async function startSite(directory: string, port: number, extra: Record<string, string>, api?: string) {
  const files = readFiles(directory, extra);
  const server = await listen(port);
  server.serve((request, response) => {
    if (api && request.url!.startsWith('/api/')) return forward(request, response, api);
    const file = files.get(request.url!.split('?')[0]!);
    response.writeHead(file ? 200 : 404, file?.headers).end(file?.body);
  });
  return { url: `http://127.0.0.1:${port}`, stop: () => server.close() };
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
  const entries = globSync('**/*', { cwd: directory, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const built = paths.map((path) => fileOf(path.slice(directory.length + 1), readFileSync(path)));
  return new Map([...built, ...Object.entries(extra).map(([name, text]) => fileOf(name, Buffer.from(text)))]);
}

type Rule = { pattern: URLPattern; headers: Record<string, string> };

/** Blocks of a path, where `*` stands for anything and `:name` for one part, and indented headers. A later block wins, so `! Header` adds nothing. */
function readRules(text: string): Rule[] {
  const rules: Rule[] = [];
  for (const line of text.split('\n').filter((line) => line.trim() && !/^(?:#|\s+!)/.test(line))) {
    const header = /^\s+([\w-]+):\s*(.*)$/.exec(line);
    if (header) rules.at(-1)!.headers[header[1]!.toLowerCase()] = header[2]!;
    else rules.push({ pattern: new URLPattern({ pathname: line.trim() }), headers: {} });
  }
  return rules;
}

export type SignedIn = { url: string; token: string; stop: () => Promise<void> };

/** The product as its own site, compressed as Cloudflare serves it, and the session of a user who has a conversation. */
export async function startSignedIn(): Promise<SignedIn> {
  const product = await startProduct({
    port: await freePort(0, 'PORT'),
    sandboxPort: await freePort(0, 'SANDBOX_PORT'),
    stateDir: join(stateDir, 'signed-in'),
    varsFile: join(stateDir, 'signed-in-vars'),
    reset: true,
    build: false,
  });
  try {
    const site = await startSite(join(root, 'dist/web'), await freePort(0, 'PORT'), {}, product.siteUrl);
    const stop = async () => {
      await site.stop();
      await product.close();
    };
    return { url: site.url, token: await signIn(product.siteUrl, product.sandboxUrl), stop };
  } catch (error) {
    await product.close();
    throw error;
  }
}

const phone = '+15551230000';
const exchanges = 4;

async function signIn(siteUrl: string, sandboxUrl: string): Promise<string> {
  const ofPhone = `${sandboxUrl}/phones/${encodeURIComponent(phone)}`;
  // The session of a trial link cannot open the conversation.
  const external = await send(`${ofPhone}/external-token`, {});
  const { token } = await send(`${siteUrl}/api/auth/verify-external-token`, external);
  await send(`${ofPhone}/messages`, { text: 'Hi' });
  const { url } = await send(`${ofPhone}/trial`, { tier: 'premium' });
  await send(`${siteUrl}/auth/verify-trial-token`, { trialToken: new URL(url!).searchParams.get('token') });
  const authorization = `Bearer ${token}`;
  await send(`${siteUrl}/api/user/chat/consent`, { version: consentVersion }, { authorization }, 'PUT');
  for (let number = 1; number <= exchanges; number += 1) {
    const message = { id: crypto.randomUUID(), text: `What I thought of today, number ${number}.` };
    await send(`${siteUrl}/api/user/chat/messages`, message, { authorization });
  }
  return token!;
}

async function send(url: string, body: object, headers: Record<string, string> = {}, method: 'POST' | 'PUT' = 'POST') {
  const json = { 'content-type': 'application/json', ...headers };
  const response = await fetch(url, { method, headers: json, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${url} responded ${response.status}: ${await response.text()}`);
  return response.json() as Promise<Record<string, string>>;
}
