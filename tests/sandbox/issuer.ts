import { Hono } from 'hono';
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import * as v from 'valibot';
import { readControl } from './stripe/control.ts';
import { canonical, numberOf, type Setup } from './setup.ts';
import type { Store } from './stripe/store.ts';

const TokenControl = v.object({
  expiresIn: v.optional(v.pipe(v.number(), v.transform(Math.floor)), 300),
  claims: v.optional(v.record(v.string(), v.unknown())),
  typ: v.optional(v.nullable(v.string()), 'JWT'),
});

/** The external issuer of tokens with verified phone numbers, and its key set. */
export async function createIssuer({ store, secrets }: Setup): Promise<Hono> {
  const { secret, open } = await loadKeys(store);
  const key = await importJWK(secret, 'ES256');
  const app = new Hono();

  app.get('/issuer/jwks.json', (c) => c.json({ keys: [open] }));
  app.post('/phones/:phone/external-token', async (c) => {
    const number = numberOf(c);
    const { expiresIn, claims, typ } = await readControl(c, TokenControl);
    const now = Math.floor(Date.now() / 1000);
    const payload = {
      iss: secrets.EXTERNAL_TOKEN_ISSUER,
      aud: secrets.EXTERNAL_TOKEN_AUDIENCE,
      sub: `person-${canonical(number)}`,
      iat: now,
      exp: now + expiresIn,
      jti: crypto.randomUUID(),
      phone_number: `+${number}`,
      phone_number_verified: true,
      ...claims,
    };
    const header = {
      alg: 'ES256',
      ...(typ !== null && { typ }),
      kid: String(open.kid),
    };
    return c.json({ token: await new SignJWT(payload).setProtectedHeader(header).sign(key) });
  });
  return app;
}

async function loadKeys(store: Store): Promise<{
  secret: JWK;
  open: JWK;
}> {
  const stored = store.get<{ secret: JWK; open: JWK }>('issuer', 'keys');
  if (stored) return stored;
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const names = {
    kid: crypto.randomUUID(),
    alg: 'ES256',
    use: 'sig',
  };
  const keys = {
    secret: await exportJWK(privateKey),
    open: { ...(await exportJWK(publicKey)), ...names },
  };
  store.put('issuer', 'keys', keys);
  return keys;
}
