import { Hono } from 'hono';
import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from 'jose';
import { canonical, numberOf } from './phones.ts';
import type { Store } from './store.ts';

export type IssuerSettings = { store: Store; issuer: string; audience: string };

type TokenRequest = { expiresIn?: unknown; claims?: JWTPayload; typ?: string | null };

/** The external issuer of tokens with verified phone numbers, and its key set. */
export async function createIssuer({ store, issuer, audience }: IssuerSettings): Promise<Hono> {
  const { secret, open } = await loadKeys(store);
  const key = await importJWK(secret, 'ES256');
  const app = new Hono();

  app.get('/issuer/jwks.json', (c) => c.json({ keys: [open] }));
  app.post('/phones/:phone/external-token', async (c) => {
    const number = numberOf(c);
    if (!number) return c.json({ error: 'A phone is a number with its country code, such as +15551234567' }, 400);
    const { expiresIn, claims, typ = 'JWT' } = await c.req.json<TokenRequest>().catch((): TokenRequest => ({}));
    const now = Math.floor(Date.now() / 1000);
    const payload = {
      iss: issuer,
      aud: audience,
      sub: `person-${canonical(number)}`,
      iat: now,
      exp: now + (typeof expiresIn === 'number' ? Math.floor(expiresIn) : 300),
      jti: crypto.randomUUID(),
      phone_number: `+${number}`,
      phone_number_verified: true,
      ...claims,
    };
    const header = { alg: 'ES256', ...(typ !== null && { typ }), kid: String(open.kid) };
    return c.json({ token: await new SignJWT(payload).setProtectedHeader(header).sign(key) });
  });
  return app;
}

async function loadKeys(store: Store): Promise<{ secret: JWK; open: JWK }> {
  const stored = store.get<{ secret: JWK; open: JWK }>('issuer', 'keys');
  if (stored) return stored;
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const names = { kid: crypto.randomUUID(), alg: 'ES256', use: 'sig' };
  const keys = { secret: await exportJWK(privateKey), open: { ...(await exportJWK(publicKey)), ...names } };
  store.put('issuer', 'keys', keys);
  return keys;
}
