import {
  createDecipheriv,
  createECDH,
  createPublicKey,
  hkdfSync,
  randomBytes,
  randomUUID,
  verify,
  type ECDH,
} from 'node:crypto';
import { type Context, Hono } from 'hono';
import { numberOf } from './phones.ts';
import type { Store } from './store.ts';

/** A browser that has subscribed: its keys in base64url. With `applicationKey` it accepts messages of that key alone. */
type Browser = { id: string; number: string; privateKey: string; auth: string; applicationKey?: string };
/** A push message as the browser decrypts it. */
type Notice = { at: string; title: string; path: string; topic: string | null; urgency: string | null; ttl: number };
type PushSettings = { store: Store; sandboxUrl: string };

const longestTokenSeconds = 24 * 60 * 60;
const largestBody = 4096;
const curve = 'prime256v1';

/** A push service, and the browsers that have subscribed to it; a push service itself cannot read the messages. */
export function createPush({ store, sandboxUrl }: PushSettings): Hono {
  // The name of the local services in the settings of the Worker.
  const origin = sandboxUrl.replace('localhost', '127.0.0.1');
  const app = new Hono();

  app.post('/push/:phone', async (c) => {
    const number = numberOf(c);
    if (!number) return c.json({ error: 'A phone is a number with its country code, such as +15551234567' }, 400);
    const { publicKey }: { publicKey?: string } = await c.req.json().catch(() => ({}));
    const keys = createECDH(curve);
    const p256dh = keys.generateKeys('base64url');
    const browser: Browser = {
      id: randomUUID(),
      number,
      privateKey: keys.getPrivateKey('base64url'),
      auth: randomBytes(16).toString('base64url'),
      ...(publicKey && { applicationKey: publicKey }),
    };
    store.put('push-browsers', browser.id, browser);
    const endpoint = `${origin}/push-service/${browser.id}`;
    return c.json({ endpoint, keys: { p256dh, auth: browser.auth } });
  });

  app.get('/push/:phone', (c) => c.json(store.list<Notice>(noticesOf(numberOf(c)))));

  app.delete('/push/:phone', (c) => {
    const own = store.list<Browser>('push-browsers').filter(({ number }) => number === numberOf(c));
    for (const { id } of own) store.delete('push-browsers', id);
    return c.json({ success: true });
  });

  app.post('/push-service/:id', async (c) => {
    const browser = store.get<Browser>('push-browsers', c.req.param('id'));
    if (!browser) return c.json({ error: 'The subscription has ended' }, 410);
    const problem = findProblem(c, browser, origin);
    if (problem) return c.json({ error: problem.error }, problem.status);
    const body = Buffer.from(await c.req.arrayBuffer());
    if (body.length > largestBody) return c.json({ error: 'Payload too large' }, 413);
    const { title, path } = JSON.parse(decrypt(body, browser)) as Notice;
    const notice: Notice = {
      at: new Date().toISOString(),
      title,
      path,
      topic: c.req.header('topic') ?? null,
      urgency: c.req.header('urgency') ?? null,
      ttl: Number(c.req.header('ttl')),
    };
    store.put(noticesOf(browser.number), randomUUID(), notice);
    return c.body(null, 201);
  });
  return app;
}

const noticesOf = (number: string | undefined) => `push:${number ?? ''}`;

function findProblem(c: Context, browser: Browser, origin: string): { status: 400 | 401 | 403; error: string } | null {
  if (!/^\d+$/.test(c.req.header('ttl') ?? '')) return { status: 400, error: 'TTL is missing' };
  if (!/^(very-low|low|normal|high)$/.test(c.req.header('urgency') ?? 'normal'))
    return { status: 400, error: 'Unknown urgency' };
  if (!/^[\w-]{1,32}$/.test(c.req.header('topic') ?? 'none')) return { status: 400, error: 'Malformed topic' };
  if (c.req.header('content-encoding') !== 'aes128gcm') return { status: 400, error: 'Unknown encoding' };
  const [, token = '', key = ''] = /^vapid t=([\w.-]+), k=([\w-]{87})$/.exec(c.req.header('authorization') ?? '') ?? [];
  if (!isSigned(token, key, origin)) return { status: 401, error: 'Invalid VAPID token' };
  if (browser.applicationKey !== undefined && browser.applicationKey !== key)
    return { status: 403, error: 'The key is not the one of the subscription' };
  return null;
}

/** Whether a token is a VAPID token of the key for this push service (RFC 8292). */
function isSigned(token: string, key: string, origin: string): boolean {
  const [header = '', claims = '', signature = ''] = token.split('.');
  if (!signature) return false;
  const { alg } = parse(header);
  const { aud, exp, sub } = parse(claims);
  const now = Date.now() / 1000;
  const lives = Number(exp) > now && Number(exp) <= now + longestTokenSeconds;
  if (alg !== 'ES256' || aud !== origin || !lives || !/^mailto:.+@.+|^https:/.test(String(sub))) return false;
  const point = Buffer.from(key, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url'));
  const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: x!, y: y! }, format: 'jwk' });
  const content = Buffer.from(`${header}.${claims}`);
  const signed = Buffer.from(signature, 'base64url');
  return verify('sha256', content, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signed);
}

function parse(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
}

/** The text of a message with one record (RFC 8291 and RFC 8188). Throws if it is not for this browser. */
function decrypt(body: Buffer, { privateKey, auth }: Browser): string {
  const keys: ECDH = createECDH(curve);
  keys.setPrivateKey(privateKey, 'base64url');
  const salt = body.subarray(0, 16);
  const idLength = body.readUInt8(20);
  const theirs = body.subarray(21, 21 + idLength);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), keys.getPublicKey(), theirs]);
  const secret = hkdfSync('sha256', keys.computeSecret(theirs), Buffer.from(auth, 'base64url'), info, 32);
  const key = derive(secret, salt, 'Content-Encoding: aes128gcm\0', 16);
  const nonce = derive(secret, salt, 'Content-Encoding: nonce\0', 12);
  const sealed = body.subarray(21 + idLength);
  const decipher = createDecipheriv('aes-128-gcm', key, nonce);
  decipher.setAuthTag(sealed.subarray(-16));
  const padded = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  return padded.subarray(0, padded.lastIndexOf(2)).toString();
}

function derive(secret: ArrayBuffer, salt: Buffer, info: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', Buffer.from(secret), salt, Buffer.from(info), bytes));
}
