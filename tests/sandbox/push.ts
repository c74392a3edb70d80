import { createDecipheriv, createECDH, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { jwtVerify } from 'jose';
import * as v from 'valibot';
import { controlError, readControl } from './stripe/control.ts';
import { numberOf, type Setup } from './setup.ts';

/** A browser that has subscribed: its keys in base64url. With `applicationKey` it accepts messages of that key alone. */
type Browser = {
  id: string;
  number: string;
  privateKey: string;
  auth: string;
  applicationKey?: string;
};

const BrowserControl = v.object({ publicKey: v.optional(v.string()) });

/** The headers of a message (RFC 8030, and RFC 8292 for `authorization`). */
const MessageHeaders = v.object({
  ttl: v.pipe(v.string(), v.digits(), v.transform(Number)),
  urgency: v.nullish(v.picklist(['very-low', 'low', 'normal', 'high']), null),
  topic: v.nullish(v.pipe(v.string(), v.regex(/^[\w-]{1,32}$/)), null),
  'content-encoding': v.literal('aes128gcm'),
  authorization: v.optional(v.string(), ''),
});

const longestTokenSeconds = 24 * 60 * 60;
const largestBody = 4096;
const curve = 'prime256v1';

/** A push service, and the browsers that have subscribed to it; a push service itself cannot read the messages. */
export function createPush({ store, sandboxUrl }: Setup): Hono {
  // The name of the local services in the settings of the Worker.
  const origin = sandboxUrl.replace('localhost', '127.0.0.1');
  const noticesOf = (number: string) => `push:${number}`;
  const app = new Hono();

  app.post('/push/:phone', async (c) => {
    const number = numberOf(c);
    const { publicKey } = await readControl(c, BrowserControl);
    const keys = createECDH(curve);
    const p256dh = keys.generateKeys('base64url');
    const [id, auth] = [randomUUID(), randomBytes(16).toString('base64url')];
    const privateKey = keys.getPrivateKey('base64url');
    const browser = {
      id,
      number,
      privateKey,
      auth,
      ...(publicKey && { applicationKey: publicKey }),
    };
    store.put('push-browsers', id, browser satisfies Browser);
    return c.json({
      endpoint: `${origin}/push-service/${id}`,
      keys: { p256dh, auth },
    });
  });

  app.get('/push/:phone', (c) => c.json(store.list(noticesOf(numberOf(c)))));

  app.post('/push-service/:id', async (c) => {
    const browser = store.get<Browser>('push-browsers', c.req.param('id'));
    if (!browser) throw controlError(410, 'The subscription has ended');
    const headers = v.safeParse(MessageHeaders, c.req.header());
    if (!headers.success)
      throw controlError(400, `Invalid header: ${v.getDotPath(headers.issues[0])}`);
    const { authorization, ttl, urgency, topic } = headers.output;
    await checkToken(authorization, browser, origin);
    const body = Buffer.from(await c.req.arrayBuffer());
    if (body.length > largestBody) throw controlError(413, 'Payload too large');
    const { title, path } = JSON.parse(decrypt(body, browser)) as {
      title: string;
      path: string;
    };
    const notice = {
      at: new Date().toISOString(),
      title,
      path,
      topic,
      urgency,
      ttl,
    };
    store.put(noticesOf(browser.number), randomUUID(), notice);
    return c.body(null, 201);
  });
  return app;
}

/** Refuses what is no VAPID token of the browser's key for this push service (RFC 8292). */
async function checkToken(
  authorization: string,
  { applicationKey }: Browser,
  origin: string,
): Promise<void> {
  const [, token = '', key = ''] = /^vapid t=([\w.-]+), k=([\w-]{87})$/.exec(authorization) ?? [];
  if (!(await isSigned(token, key, origin))) throw controlError(401, 'Invalid VAPID token');
  if (applicationKey !== undefined && applicationKey !== key)
    throw controlError(403, 'The key is not the one of the subscription');
}

async function isSigned(token: string, key: string, origin: string): Promise<boolean> {
  try {
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
    const publicKey = await crypto.subtle.importKey(
      'raw',
      Buffer.from(key, 'base64url'),
      algorithm,
      false,
      ['verify'],
    );
    const { payload } = await jwtVerify(token, publicKey, {
      algorithms: ['ES256'],
      requiredClaims: ['exp', 'sub'],
    });
    const { aud, exp = 0, sub = '' } = payload;
    return (
      aud === origin &&
      exp <= Date.now() / 1000 + longestTokenSeconds &&
      /^mailto:.+@.+|^https:/.test(sub)
    );
  } catch {
    return false;
  }
}

/** The text of a message with one record (RFC 8291 and RFC 8188). Throws if it is not for this browser. */
function decrypt(body: Buffer, { privateKey, auth }: Browser): string {
  const keys = createECDH(curve);
  keys.setPrivateKey(privateKey, 'base64url');
  const salt = body.subarray(0, 16);
  const idLength = body.readUInt8(20);
  const theirs = body.subarray(21, 21 + idLength);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), keys.getPublicKey(), theirs]);
  const secret = derive(keys.computeSecret(theirs), Buffer.from(auth, 'base64url'), info, 32);
  const key = derive(secret, salt, 'Content-Encoding: aes128gcm\0', 16);
  const nonce = derive(secret, salt, 'Content-Encoding: nonce\0', 12);
  const sealed = body.subarray(21 + idLength);
  const decipher = createDecipheriv('aes-128-gcm', key, nonce);
  decipher.setAuthTag(sealed.subarray(-16));
  const padded = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  return padded.subarray(0, padded.lastIndexOf(2)).toString();
}

const derive = (secret: Buffer, salt: Buffer, info: string | Buffer, bytes: number) =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, bytes));
