import { callJson } from '../../product/machine.ts';
import type { Phone } from '../../browser/support/phone.ts';
import type { Page } from './page.ts';

/** Signs in with an external token after one message to the assistant, without the login page, and opens a page. */
export async function signIn(page: Page, phone: Phone, path = '/account'): Promise<void> {
  await phone.write('Hi');
  const { token } = await verify<{ token: string }>(
    '/api/auth/verify-external-token',
    await phone.externalToken(),
  );
  await page.visit('/robots.txt');
  await page.run((stored) => localStorage.setItem('authToken', stored), token);
  await page.open(path);
}

/** Gives the phone's owner a plan with voice. */
export async function startTrial(phone: Phone): Promise<void> {
  await phone.write('Hi');
  const { url } = await phone.trial({ tier: 'premium', days: 3 });
  const trialToken = new URL(url).searchParams.get('token');
  await verify('/auth/verify-trial-token', { trialToken });
}

const verify = <Result>(path: string, body: object) =>
  callJson<Result>('POST', process.env.SITE_URL + path, body);

/** Opens the chat of somebody who signs in and accepts the notice. */
export async function openChat(page: Page, phone: Phone): Promise<void> {
  await signIn(page, phone, '/chat');
  await acceptNotice(page);
}

export async function acceptNotice(page: Page): Promise<void> {
  await page.click({ role: 'checkbox', name: 'I am 18 years or older.' });
  await page.click({ role: 'checkbox', name: /^I agree that/ });
  await page.button('Start the conversation');
  await page.see(messageField);
}

export const messageField = {
  role: 'textbox',
  name: 'Message to Solace',
} as const;

export async function send(page: Page, text: string): Promise<void> {
  await page.fill('Message to Solace', text);
  await page.press('Enter');
}

/** Buys a plan at the local Stripe and returns to the account. */
export async function buy(page: Page, plan = 'Basic'): Promise<void> {
  await page.open('/plans');
  await page.button(`Choose ${plan}`);
  await page.button('Go to payment');
  await page.button('Subscribe');
  await page.reads('Payment Successful!');
  await page.link('Manage My Account');
  await page.at('/account');
}
