import { join } from 'node:path';
import { consentVersion } from '../../../web/words/chat.ts';
import { freePort } from '../../product/machine.ts';
import { startProduct } from '../../product/start-product.ts';
import { root, stateDir } from './paths-and-ports.ts';
import { startSite } from './site.ts';

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
  const { token } = await post(`${siteUrl}/auth/verify-trial-token`, { trialToken });
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
