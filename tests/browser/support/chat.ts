import { expect, type Page } from 'playwright/test';
import { consentVersion } from '#contract/chat-limits';
import type { ChatMessage, ChatPage } from '../../../worker/contract/chat-schemas.ts';
import { follow, hydrated } from './page.ts';
import type { Phone } from './phone.ts';
import { firstRevision, type Person, type Stub } from './stub.ts';
import { signInByExternalToken } from './test.ts';

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

/** Leaves the chat for the account, and comes back. */
export async function visitAccount(page: Page): Promise<void> {
  await follow(page.getByRole('link', { name: 'My Account' }), '**/account');
  // While the account loads, React hides the chat, whose stream stays open.
  await expect(page.locator('textarea')).toHaveCount(0);
  await page.goBack();
}

/** Opens the chat of somebody with this conversation. */
export async function openConversation(
  page: Page,
  stub: Stub,
  messages: ChatMessage[],
  person?: Person,
  more?: Partial<ChatPage>,
): Promise<void> {
  await stub.signedIn(person);
  stub.respond('getChat', pageOf(messages, more));
  await page.goto('/chat');
  await hydrated(page, 'main form');
}

/** The instants of the conversation below are in UTC and before this one. */
export const now = '2025-03-04T15:30:00.000Z';

/** A message of the user; replies are made by `author: 'solace'`. */
export function messageOf(seq: number, text: string, more: Partial<ChatMessage> = {}): ChatMessage {
  return {
    id: `id-${seq}`,
    seq,
    author: 'user',
    text,
    at: now,
    state: 'delivered',
    ...more,
  };
}

/** One message of each kind, on three days. */
export const everyKind: ChatMessage[] = [
  messageOf(1, 'Hello *there*, <b>Solace</b>', { at: '2025-02-01T09:05:00.000Z' }),
  messageOf(2, 'Hello! See https://example.com/a?b=1, _please_.\nA second line.', {
    author: 'solace',
    at: '2025-02-01T09:05:20.000Z',
  }),
  messageOf(3, 'Four hours later', { at: '2025-02-01T13:30:00.000Z' }),
  messageOf(4, 'Yesterday', {
    author: 'solace',
    at: '2025-03-03T23:59:00.000Z',
  }),
  messageOf(5, 'I cannot go on', { at: '2025-03-04T15:00:00.000Z' }),
  messageOf(6, 'Please talk to somebody now.', {
    author: 'solace',
    crisis: true,
    at: '2025-03-04T15:01:00.000Z',
  }),
  messageOf(7, 'This one was refused', {
    state: 'failed',
    at: '2025-03-04T15:02:00.000Z',
  }),
  messageOf(8, 'This one is new', {
    state: 'sent',
    at: '2025-03-04T15:03:00.000Z',
  }),
];

/** The response to `GET /api/user/chat`, of somebody who has consented. */
export function pageOf(messages: ChatMessage[], more: Partial<ChatPage> = {}): ChatPage {
  return {
    success: true,
    revision: firstRevision,
    messages,
    hasMore: false,
    typingUntil: null,
    consent: { version: consentVersion, at: now },
    ...more,
  };
}

/** A long conversation, whose end alone fits on a screen. */
export const long = Array.from({ length: 50 }, (_, index) =>
  messageOf(index + 1, `Message number ${index + 1}.`, { author: index % 2 ? 'solace' : 'user' }),
);
