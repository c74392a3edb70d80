import type { Page } from 'playwright/test';
import { ensureHeadlessBrowser } from './browser.ts';
import { acceptNotice, chat, send } from './support/chat.ts';
import { microphoneArguments, openMicrophones, watchSound } from './support/microphone.ts';
import { follow, hydrated, installClock, storedToken } from './support/page.ts';
import { enterCode, expect, test } from './support/test.ts';

test.use({
  viewport: { width: 390, height: 844 },
  // With the animations, which the other tests leave out.
  contextOptions: { reducedMotion: 'no-preference' },
  launchOptions: {
    executablePath: ensureHeadlessBrowser(),
    args: microphoneArguments,
  },
  expectedErrors: [/net::ERR_|status of 4/],
});

/** Keeps a picture of each step, for somebody who wants to look at what a person sees. */
function pictures(page: Page) {
  const folder = process.env['PICTURES'];
  let step = 0;
  return async (name: string) => {
    step += 1;
    const file = `${String(step).padStart(2, '0')}-${name}.png`;
    if (folder) await page.screenshot({ path: `${folder}/day-${file}` });
  };
}

/** Ends the session of the page on another device of the same person. */
async function endElsewhere(page: Page): Promise<void> {
  const site = process.env.SITE_URL!;
  const authorization = `Bearer ${await storedToken(page)}`;
  const list = await page.request.get(`${site}/api/user/sessions`, { headers: { authorization } });
  const { sessions } = (await list.json()) as {
    sessions: {
      id: string;
      current: boolean;
    }[];
  };
  const own = sessions.find(({ current }) => current)!;
  await page.request.delete(`${site}/api/user/sessions/${own.id}`, { headers: { authorization } });
}

/** The tray of a browser that shows notices: the headless one has none. */
async function withTray(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const shown: object[] = [];
    Object.assign(window, {
      shown,
      show: () => shown.push({ close: () => shown.splice(0) }),
    });
    const registration = { getNotifications: async () => [...shown] };
    navigator.serviceWorker.getRegistration = async () => registration as never;
  });
}

const inTray = (page: Page) => page.evaluate(() => (window as any).shown.length as number);
const notify = (page: Page) => page.evaluate(() => void (window as any).show());

test(
  'a day in the life of somebody on a phone',
  { tag: '@full' },
  async ({ page, phone, context }) => {
    const picture = pictures(page);
    await installClock(page);
    await watchSound(page);
    await withTray(page);
    await phone.beginTrial({ tier: 'basic', days: 3 });

    await page.goto('/chat');
    await page.waitForURL('**/login?next=%2Fchat');
    await page.getByLabel('Phone number').fill(phone.number);
    await enterCode(page, phone);
    await page.waitForURL('**/chat');
    await acceptNotice(page);
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(0);
    await picture('consented');

    // The session ends while half a message is written.
    const half = 'I did not sleep again, and I keep thinking about what she said';
    await chat.field(page).fill(half);
    await endElsewhere(page);
    await chat.field(page).press('Enter');
    await page.waitForURL('**/login?next=%2Fchat');
    await expect(page.getByText('What you wrote and did not send is kept')).toBeVisible();
    await picture('session-ended');
    await phone.write('Hi again');
    await page.getByLabel('Phone number').fill(phone.number);
    await enterCode(page, phone);
    await page.waitForURL('**/chat');
    await expect(chat.field(page)).toHaveValue(half);
    await expect(page.getByText('Session expired. Please log in again.')).toHaveCount(0);
    await picture('text-is-back');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect(chat.message(page, half).getByText('Delivered')).toBeVisible();
    await picture('sent');

    // The network is lost, and the tab is loaded again.
    await context.setOffline(true);
    await send(page, 'Are you still there?');
    const lost = chat.message(page, 'Are you still there?');
    await expect(lost.getByText('Not sent')).toBeVisible();
    await picture('not-sent');
    await context.setOffline(false);
    await page.reload();
    await hydrated(page, 'main form');
    await expect(lost.getByText('Not sent')).toBeVisible();
    await picture('not-sent-after-reload');
    await lost.getByRole('button', { name: 'Send again' }).click();
    await expect(lost.getByText('Delivered')).toBeVisible();
    await expect(lost).toHaveCount(1);

    // A recording is begun, the page left, and the recording sent later.
    const panel = page.getByRole('group', { name: 'Voice message' });
    await page.getByRole('button', { name: 'Record a voice message' }).click();
    await expect(panel.getByRole('timer')).not.toHaveText('0:00');
    await picture('recording');
    await follow(page.getByRole('link', { name: 'My Account' }), '**/account');
    await expect.poll(() => openMicrophones(page)).toBe(0);
    await picture('left');
    await page.goBack();
    await expect(panel).toContainText('The recording stopped when you left this page.');
    await picture('recording-kept');
    await panel
      .getByRole('button', {
        name: 'Send',
        exact: true,
      })
      .click();
    await expect(panel).toHaveCount(0);
    await picture('recording-sent');

    // Refused for a minute.
    await page.route('**/api/user/chat/messages', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'retry-after': '60' },
        json: {
          success: false,
          code: 'rate_limited',
          message: 'Too many requests.',
        },
      }),
    );
    await send(page, 'One more thing');
    await expect(page.getByRole('alert').first()).toContainText('send again. You can try again');
    await expect(chat.field(page)).toHaveValue('One more thing');
    await picture('refused');
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.clock.fastForward(61_000);
    await picture('a-minute-later');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect(chat.message(page, 'One more thing').getByText('Delivered')).toBeVisible();
    await expect(page.getByRole('alert')).toHaveCount(0);

    // A notice comes, is read, and another one comes.
    await notify(page);
    await phone.botWrites('Sleep well tonight. See https://example.org/sleep for a list.');
    await expect(chat.message(page, 'Sleep well tonight.')).toBeVisible();
    await expect.poll(() => inTray(page)).toBe(0);
    await picture('notice-read');
    await notify(page);
    expect(await inTray(page)).toBe(1);

    await page.emulateMedia({ media: 'print' });
    await expect(chat.field(page)).toBeHidden();
    await expect(chat.message(page, half).getByText('You said')).toBeVisible();
    if (process.env['PICTURES'])
      await page.screenshot({
        path: `${process.env['PICTURES']}/day-print.png`,
        fullPage: true,
      });
  },
);
