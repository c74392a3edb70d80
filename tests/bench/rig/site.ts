import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { consentVersion } from '#contract/chat-limits';
import { freePort } from '../../product/machine.ts';
import { startProduct } from '../../product/start-product.ts';
import { root, stateDir } from './settings.ts';

type File = { body: Buffer; headers: Record<string, string> };
type Rule = { pattern: RegExp; headers: Record<string, string> };

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
  '.xml': 'application/xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.avif': 'image/avif',
  '.webp': 'image/webp',
};
const compressible = /\.(?:html|js|css|svg|json|webmanifest|txt|xml)$/;

/**
 * Serves a built website from memory, by brotli and with the headers of its `_headers`; `extra` pages lie beside it.
 * Calls of the API go on to `api`.
 */
export async function startSite(directory: string, port: number, extra: Record<string, string>, api?: string) {
  const files = readFiles(directory, extra);
  const server = createServer((request, response) => {
    if (api && request.url!.startsWith('/api/')) return forward(request, response, api);
    const file = files.get(request.url!.split('?')[0]!);
    response.writeHead(file ? 200 : 404, file?.headers);
    response.end(file?.body);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, stop };
}

function forward(request: IncomingMessage, response: ServerResponse, api: string): void {
  const { method, headers } = request;
  const onward = httpRequest(new URL(request.url!, api), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  request.pipe(onward);
}

function readFiles(directory: string, extra: Record<string, string>): Map<string, File> {
  const rules = readRules(readFileSync(join(directory, '_headers'), 'utf8'));
  const files = new Map<string, File>();
  const add = (name: string, content: Buffer) => {
    const path = `/${name.replace(/(?:^|(?<=\/))index\.html$|\.html$/, '')}`;
    const packed = compressible.test(name);
    files.set(path, {
      body: packed ? brotliCompressSync(content) : content,
      headers: {
        'content-type': types[extname(name)] ?? 'application/octet-stream',
        'cache-control': 'public, max-age=0, must-revalidate',
        ...(packed && { 'content-encoding': 'br' }),
        ...Object.assign({}, ...rules.filter(({ pattern }) => pattern.test(path)).map(({ headers }) => headers)),
      },
    });
  };
  for (const entry of globSync('**/*', { cwd: directory, withFileTypes: true })) {
    if (!entry.isFile() || entry.name === '_headers') continue;
    const name = join(entry.parentPath, entry.name).slice(directory.length + 1);
    add(name, readFileSync(join(directory, name)));
  }
  for (const [name, text] of Object.entries(extra)) add(name, Buffer.from(text));
  return files;
}

/** Blocks of a path, where `*` stands for anything and `:name` for one part, and indented headers. A later block wins, so `! Header` adds nothing. */
function readRules(text: string): Rule[] {
  const rules: Rule[] = [];
  for (const line of text.split('\n').filter((line) => line.trim() && !/^(?:#|\s+!)/.test(line))) {
    const header = /^\s+([\w-]+):\s*(.*)$/.exec(line);
    if (header) rules.at(-1)!.headers[header[1]!.toLowerCase()] = header[2]!;
    else rules.push({ pattern: patternOf(line.trim()), headers: {} });
  }
  return rules;
}

function patternOf(path: string): RegExp {
  const parts = path.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*').replaceAll(/:\w+/g, '[^/]+')}$`);
}

const phone = encodeURIComponent('+15551230000');
const exchanges = 4;

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

async function signIn(siteUrl: string, sandboxUrl: string): Promise<string> {
  const control = (path: string, body: object) => post(`${sandboxUrl}/phones/${phone}/${path}`, body);
  await control('messages', { text: 'Hi' });
  const { url } = await control('trial', { tier: 'premium' });
  const trialToken = new URL(url!).searchParams.get('token');
  await post(`${siteUrl}/auth/verify-trial-token`, { trialToken });
  // The session of a trial link cannot open the conversation.
  const number = { phone: decodeURIComponent(phone) };
  const { challenge } = await post(`${siteUrl}/api/auth/request-otp`, number);
  const messages = (await (await fetch(`${sandboxUrl}/phones/${phone}/messages`)).json()) as { code?: string }[];
  const otp = messages.findLast(({ code }) => code)!.code!;
  const { token } = await post(`${siteUrl}/api/auth/verify-otp`, { ...number, otp, challenge });
  const authorization = `Bearer ${token}`;
  await post(`${siteUrl}/api/user/chat/consent`, { version: consentVersion }, 'PUT', { authorization });
  for (let number = 1; number <= exchanges; number += 1) {
    const message = { id: crypto.randomUUID(), text: `What I thought of today, number ${number}.` };
    await post(`${siteUrl}/api/user/chat/messages`, message, 'POST', { authorization });
  }
  return token!;
}

async function post(
  url: string,
  body: object,
  method = 'POST',
  headers: Record<string, string> = {},
): Promise<Record<string, string>> {
  const json = { 'content-type': 'application/json', ...headers };
  const init = { method, headers: json, body: JSON.stringify(body) };
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${method} ${url} responded ${response.status}: ${await response.text()}`);
  return response.json() as Promise<Record<string, string>>;
}
