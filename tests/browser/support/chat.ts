import type { Page } from 'playwright/test';
import { signInByExternalToken } from './test.ts';
import type { Phone } from './phone.ts';

/** The parts of the chat page. */
export const chat = {
  field: (page: Page) => page.getByRole('textbox', { name: 'Message to Solace' }),
  log: (page: Page) => page.getByRole('log', { name: 'New messages' }),
  history: (page: Page) => page.getByRole('list', { name: 'Earlier messages' }),
  message: (page: Page, text: string) => page.getByRole('listitem').filter({ hasText: text }),
  accept: (page: Page) => page.getByRole('button', { name: 'Start the conversation' }),
};

/** Signs in, opens the chat and accepts the notice. */
export async function openChat(page: Page, phone: Phone): Promise<void> {
  await signInByExternalToken(page, phone, '/chat');
  await acceptNotice(page);
}

export async function acceptNotice(page: Page): Promise<void> {
  await page.getByRole('checkbox', { name: 'I am 18 years or older.' }).check();
  await page.getByRole('checkbox', { name: /^I agree that/ }).check();
  await chat.accept(page).click();
  await chat.field(page).waitFor();
}

/** Chooses an option of the conversation and confirms it. */
export async function chooseOption(page: Page, name: string): Promise<void> {
  await page.getByLabel('Options of the conversation').click();
  await page.getByRole('button', { name }).click();
  await page.getByRole('alertdialog').getByRole('button', { name }).click();
}

export async function send(page: Page, text: string): Promise<void> {
  await chat.field(page).fill(text);
  await chat.field(page).press('Enter');
}

async function control(method: string, path: string, body: object): Promise<void> {
  const init = { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const response = await fetch(`${process.env.SANDBOX_URL}${path}`, init);
  if (!response.ok) throw new Error(`${method} ${path} responded ${response.status}: ${await response.text()}`);
}

/** The bot writes unprompted. */
export const botWrites = (phone: Phone, reply: { text: string; id?: string; crisis?: boolean }) =>
  control('POST', '/bot/replies', { phone: phone.number, ...reply });

/** How the bot treats the messages of a phone. */
export const botMode = (phone: Phone, mode: 'answer' | 'silent' | 'refuse') =>
  control('PUT', '/bot/mode', { mode, phone: phone.number });
