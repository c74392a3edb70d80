import { chromium, type Browser } from 'playwright';
import { browserArguments, ensureHeadlessBrowser } from '../browser/browser.ts';
import { consentVersion } from '#contract/chat-limits';
import { callJson } from '../product/machine.ts';
import type { Site } from './edits.ts';

type Addresses = { siteUrl: string; sandboxUrl: string };

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: ensureHeadlessBrowser(),
    args: browserArguments,
  });

/** A number that the local services do not know yet. */
export const newNumber = () =>
  `+1555${String(crypto.getRandomValues(new Uint32Array(1))[0]! % 10_000_000).padStart(7, '0')}`;

/** The token of somebody who may write in the chat. */
export async function signIn({ siteUrl, sandboxUrl }: Addresses, phone: string): Promise<string> {
  const inbox = `${sandboxUrl}/phones/${encodeURIComponent(phone)}/messages`;
  await callJson('POST', inbox, { text: 'Hi' });
  const request = `${siteUrl}/api/auth/request-otp`;
  const { challenge } = await callJson<{ challenge: string }>('POST', request, { phone });
  const messages = await callJson<{ code?: string }[]>('GET', inbox);
  const otp = messages.findLast(({ code }) => code)?.code;
  const verify = `${siteUrl}/api/auth/verify-otp`;
  const { token } = await callJson<{ token: string }>('POST', verify, {
    phone,
    otp,
    challenge,
  });
  await callJson('PUT', `${siteUrl}/api/user/chat/consent`, { version: consentVersion }, token);
  return token;
}

/** Opens the login in English, half-filled, and in Spanish; signs in somebody for the calls. */
export async function openSite(browser: Browser, addresses: Addresses): Promise<Site> {
  const token = await signIn(addresses, newNumber());
  const [login, spanish] = await Promise.all([browser.newPage(), browser.newPage()]);
  await login.goto(`${addresses.siteUrl}/login`);
  await login.locator('#phone').fill('+1 555');
  await spanish.goto(`${addresses.siteUrl}/es/login`);
  await spanish.locator('h1').waitFor();
  return { ...addresses, login, spanish, token };
}
