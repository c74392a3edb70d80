import type { Page } from 'playwright/test';
import { ensureHeadlessBrowser } from './browser.ts';
import { chat, messageOf, openChat, pageOf } from './support/chat.ts';
import {
  interrupt,
  loudness,
  microphoneArguments,
  openMicrophones,
  playedSeconds,
  timesAsked,
  watchSound,
} from './support/microphone.ts';
import { expectToFit, hydrated, installClock, violations } from './support/page.ts';
import type { Stub } from './support/stub.ts';
import { expect, test } from './support/stubbed.ts';
import { test as journey } from './support/test.ts';

test.use({ launchOptions: { executablePath: ensureHeadlessBrowser(), args: microphoneArguments } });
journey.use({ launchOptions: { executablePath: ensureHeadlessBrowser(), args: microphoneArguments } });

const microphone = (page: Page) => page.getByRole('button', { name: 'Record a voice message' });
const panel = (page: Page) => page.getByRole('group', { name: 'Voice message' });
const press = (page: Page, name: string) => panel(page).getByRole('button', { name, exact: true }).click();

async function openVoice(page: Page, stub: Stub, tier = 'basic'): Promise<void> {
  await watchSound(page);
  await stub.signedIn({ tier });
  stub.respond('getChat', pageOf([messageOf(1, 'Hello')]));
  stub.keepRecordings();
  await page.goto('/chat');
  await hydrated(page, 'main form');
}

/** Starts a recording and waits until the microphone has been heard. */
async function record(page: Page): Promise<void> {
  await microphone(page).click();
  await expect(panel(page).getByRole('timer')).toHaveText(/0:0[1-9]/);
  const highest = () =>
    panel(page)
      .locator('i')
      .evaluateAll((bars: HTMLElement[]) => Math.max(...bars.map(({ style }) => Number.parseInt(style.height))));
  await expect.poll(highest, 'the highest bar of the meter').toBeGreaterThan(20);
}

journey('a recording reaches the companion and plays, also after a reload', async ({ page, phone }) => {
  await watchSound(page);
  await phone.write('Hi');
  const { url } = await phone.trial({ tier: 'premium', days: 3 });
  await page.request.post('/auth/verify-trial-token', { data: { trialToken: new URL(url).searchParams.get('token') } });
  await openChat(page, phone);
  expect(await timesAsked(page)).toBe(0);
  await record(page);
  await press(page, 'Send');
  const own = page.getByRole('listitem').filter({ hasText: 'You said' });
  await expect(own.getByText('Delivered')).toBeVisible();
  await expect(panel(page)).toHaveCount(0);
  expect(await openMicrophones(page)).toBe(0);
  await page.reload();
  await own.getByRole('button', { name: /^Play voice message, 0:0/ }).click();
  await expect.poll(() => playedSeconds(page)).toBeGreaterThan(0.3);
  expect(await loudness(page)).toBeGreaterThan(0.02);
});

test('without voice in the plan the button explains, and asks for no permission', async ({ page, stub }) => {
  await openVoice(page, stub, 'free');
  await microphone(page).click();
  await expect(page.getByRole('alert')).toContainText('Voice messages are part of the Basic plan and above.');
  await expect(page.getByRole('alert').getByRole('link', { name: 'See the plans' })).toBeVisible();
  expect(await timesAsked(page)).toBe(0);
});

test('a recording can be stopped by Escape, listened to, and thrown away', async ({ page, stub }) => {
  await openVoice(page, stub);
  await chat.field(page).fill('My draft');
  await record(page);
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(panel(page).getByRole('status').filter({ hasText: 'Recorded, 0:0' })).toBeVisible();
  expect(await openMicrophones(page)).toBe(0);
  expect(await violations(page)).toEqual([]);
  await expectToFit(page, 320, 360, 1440);
  await panel(page)
    .getByRole('button', { name: /^Play voice message/ })
    .click();
  await expect.poll(() => playedSeconds(page)).toBeGreaterThan(0.1);
  await press(page, 'Delete');
  await expect(chat.field(page)).toHaveValue('My draft');
  expect(stub.calls('sendVoice')).toEqual([]);
});

test('a cancelled recording leaves nothing, and the microphone is free', async ({ page, stub }) => {
  await openVoice(page, stub);
  await record(page);
  await press(page, 'Cancel');
  await expect(chat.field(page)).toBeVisible();
  expect(await openMicrophones(page)).toBe(0);
  expect(stub.calls('sendVoice')).toEqual([]);
});

test('a recording that could not be sent stays and is sent again, the same', async ({ page, stub }) => {
  await openVoice(page, stub);
  stub.respond('sendVoice', {}, 503);
  await record(page);
  await press(page, 'Send');
  await expect(page.getByRole('alert')).toBeVisible();
  await expect(panel(page).getByRole('button', { name: /^Play voice message/ })).toBeVisible();
  stub.keepRecordings();
  await press(page, 'Send again');
  await expect(chat.message(page, 'You said').getByRole('button', { name: /^Play/ })).toHaveCount(1);
  const [first, second] = stub.calls('sendVoice');
  expect(second?.search.toString()).toBe(first?.search.toString());
  expect(second?.body).toEqual(first?.body);
});

test('a recording outlasts a visit of another page, and leaving the site asks first', async ({ page, stub }) => {
  await openVoice(page, stub);
  await record(page);
  await press(page, 'Stop');
  await page.getByRole('link', { name: 'My Account' }).click();
  await page.waitForURL('**/account');
  await page.goBack();
  await expect(panel(page).getByText('Recorded, 0:0')).toBeVisible();
  const asked = page.waitForEvent('dialog');
  await page.close({ runBeforeUnload: true });
  const dialog = await asked;
  expect(dialog.type()).toBe('beforeunload');
  await dialog.dismiss();
  await expect(panel(page).getByText('Recorded, 0:0')).toBeVisible();
});

test('a call that takes the microphone keeps what was recorded', async ({ page, stub }) => {
  await openVoice(page, stub);
  await record(page);
  await interrupt(page);
  await expect(panel(page)).toContainText('something else took the microphone');
  await expect(panel(page).getByRole('button', { name: 'Send' })).toBeVisible();
  expect(await openMicrophones(page)).toBe(0);
});

test('the last ten seconds are counted down, and two minutes are kept', async ({ page, stub }) => {
  await installClock(page);
  await openVoice(page, stub);
  await record(page);
  await page.clock.fastForward(110_000);
  await expect(panel(page).getByText(/^[1-9] seconds? left$/)).toBeVisible();
  await expect(panel(page).getByRole('status').filter({ hasText: '10 seconds left' })).toHaveCount(1);
  await page.clock.fastForward(10_000);
  await expect(panel(page)).toContainText('The recording was stopped after two minutes.');
  await press(page, 'Send');
  await expect.poll(() => stub.calls('sendVoice').length).toBe(1);
  expect(stub.calls('sendVoice')[0]?.search.get('seconds')).toBe('120');
});

const refusals = [
  ['NotAllowedError', 'Solace may not use the microphone.'],
  ['NotFoundError', 'No microphone was found.'],
  ['NotReadableError', 'The microphone is busy in another app.'],
] as const;

for (const [name, sentence] of refusals) {
  test(`says what to do after ${name}`, async ({ page, stub }) => {
    await openVoice(page, stub);
    await page.evaluate((refusal) => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', refusal));
    }, name);
    await microphone(page).click();
    await expect(page.getByRole('status').filter({ hasText: sentence })).toBeVisible();
    await expect(chat.field(page)).toBeVisible();
  });
}

test('a muted microphone is noticed', async ({ page, stub }) => {
  await openVoice(page, stub);
  await page.evaluate(() => {
    navigator.mediaDevices.getUserMedia = async () => new AudioContext().createMediaStreamDestination().stream;
  });
  await microphone(page).click();
  await expect(panel(page).getByRole('timer')).toHaveText('0:02');
  await press(page, 'Stop');
  await expect(page.getByRole('status').filter({ hasText: 'Is the microphone muted?' })).toBeVisible();
});

test('one recording plays at a time, at the chosen speed and from the chosen second', async ({ page, stub }) => {
  await openVoice(page, stub);
  for (const count of [1, 2]) {
    await record(page);
    await press(page, 'Send');
    await expect(chat.log(page).getByRole('slider')).toHaveCount(count);
  }
  const recordings = chat
    .log(page)
    .getByRole('listitem')
    .filter({ has: page.getByRole('slider') });
  const [first, second] = [recordings.first(), recordings.last()];
  await first.getByRole('button', { name: /^Play/ }).click();
  await expect(first.getByRole('button', { name: 'Pause' })).toBeVisible();
  await second.getByRole('button', { name: /^Play/ }).click();
  await expect(first.getByRole('button', { name: /^Play/ })).toBeVisible();
  await first.getByRole('button', { name: 'Speed 1' }).click();
  await expect(second.getByRole('button', { name: 'Speed 1.5' })).toBeVisible();
  const position = first.getByRole('slider', { name: 'Position' });
  await position.focus();
  await page.keyboard.press('ArrowRight');
  await expect(position).toHaveAttribute('aria-valuetext', /^0:01 of 0:0/);
});
