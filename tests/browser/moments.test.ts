import { chat, messageOf, openConversation, send } from './support/chat.ts';
import { hydrated, setVisible, stopTime } from './support/page.ts';
import { expect, stubbed } from './support/test.ts';

/** What ends by the clock alone: days, and refusals until a time. In Mexico City it is six hours earlier than in UTC. */
const inMexico = stubbed.extend({
  contextOptions: {
    timezoneId: 'America/Mexico_City',
    reducedMotion: 'reduce',
  },
});

// Reports of other products: element-web 6049, Adamant-im 862.
inMexico(
  'a day ends at midnight of the reader, also in the separator',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stopTime(page, '2025-03-05T05:57:00Z');
    const messages = [messageOf(1, 'Good night', { at: '2025-03-05T05:30:00.000Z' })];
    await openConversation(page, stub, messages);
    const separator = page.getByRole('main').locator('li > time');
    await expect(separator).toHaveText('Today');
    await expect(separator).toHaveAttribute('datetime', '2025-03-04');
    await page.clock.runFor(3 * 60_000);
    await expect(separator).toHaveText('Yesterday');

    // A device that slept fires no timer.
    await setVisible(page, false);
    await page.clock.setSystemTime('2025-03-06T18:00:00Z');
    await setVisible(page, true);
    await expect(separator).toHaveText('March 4, 2025');
    await expect(chat.message(page, 'Good night')).toBeVisible();
  },
);

inMexico(
  'a spent allowance says when a new week begins, and goes when it has come',
  async ({ page, stub }) => {
    await stopTime(page, '2025-03-04T18:00:00Z');
    const resetsAt = '2025-03-05T11:16:00.000Z';
    const spent = {
      success: false,
      code: 'allowance_spent',
      used: 5,
      limit: 5,
      resetsAt,
    };
    stub.respond('sendMessage', spent, 403);
    await openConversation(page, stub, [], { used: 5, resetsAt });
    const begins = 'A new week begins Wednesday, March 5, 5:16 AM.';
    const main = page.getByRole('main');
    const alert = main.getByRole('alert');
    // The way out shows before anything is refused.
    await expect(main.getByRole('link', { name: 'See the plans' })).toHaveAttribute(
      'href',
      '/plans',
    );
    await send(page, 'One more');
    await expect(alert).toContainText("You have used this week's messages.");
    await expect(alert).toContainText(begins);
    await expect(page.getByText(begins)).toHaveCount(2);
    await expect(alert.getByRole('link', { name: 'See the plans' })).toHaveAttribute(
      'href',
      '/plans',
    );
    await page.clock.runFor('17:15:59');
    await expect(alert).toBeVisible();
    await page.clock.runFor(1000);
    await expect(alert).toHaveCount(0);
    await expect(page.getByText(begins)).toHaveCount(0);
    await expect(chat.field(page)).toHaveValue('One more');
  },
);

// Reports of other products: hr-time 115, faro-web-sdk 2179. No clock of a page ticks while the device sleeps.
inMexico(
  'a spent allowance goes within a minute after a device has slept until a new week',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stopTime(page, '2025-03-04T18:00:00Z');
    const resetsAt = '2025-03-05T11:16:00.000Z';
    const spent = {
      success: false,
      code: 'allowance_spent',
      used: 5,
      limit: 5,
      resetsAt,
    };
    stub.respond('sendMessage', spent, 403);
    const push = stub.openStream('chatStream');
    await openConversation(page, stub, [], { used: 5, resetsAt });
    const alert = page.getByRole('main').getByRole('alert');
    await send(page, 'One more');
    await expect(alert).toContainText("You have used this week's messages.");
    await setVisible(page, false);
    await setVisible(page, true);
    push({ named: 'beat', at: '2025-03-05T12:00:00.000Z' });
    await expect
      .poll(() => page.clock.runFor(5000).then(() => alert.count()), { intervals: [10] })
      .toBe(0);
    await expect(chat.field(page)).toHaveValue('One more');
  },
);

for (const [path, begins] of [
  ['/account', 'A new week begins Wednesday, March 5, 5:16 AM.'],
  ['/es/account', 'Una nueva semana empieza: miércoles, 5 de marzo, 5:16.'],
  ['/pt-br/account', 'Uma nova semana começa: quarta-feira, 5 de março, 5:16.'],
] as const)
  inMexico(`${path} says when a new week begins`, { tag: '@full' }, async ({ page, stub }) => {
    await stopTime(page, '2025-03-04T18:00:00Z');
    await stub.signedIn({
      used: 5,
      resetsAt: '2025-03-05T11:16:00.000Z',
    });
    await page.goto(path);
    await hydrated(page);
    await expect(page.getByText(begins)).toBeVisible();
    await page.clock.fastForward('17:16:00');
    await expect(page.getByText(begins)).toHaveCount(0);
  });

inMexico(
  'messages that come too fast say when the next one may be sent',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stopTime(page, '2025-03-04T18:00:00Z');
    const limited = { success: false, code: 'rate_limited' };
    stub.respond('sendMessage', limited, 429, { 'retry-after': '90' });
    await openConversation(page, stub, []);
    await send(page, 'Fast');
    const alert = page.getByRole('main').getByRole('alert');
    await expect(alert).toContainText('You can try again after 12:02 PM.');
    await expect(chat.field(page)).toHaveValue('Fast');
    await page.clock.runFor(90_000);
    await expect(alert).toHaveCount(0);
  },
);

inMexico(
  'a toast about too many calls says when the next one may be made',
  { tag: '@full' },
  async ({ page, stub }) => {
    const limited = { success: false, code: 'rate_limited' };
    stub.respond('createPortalSession', limited, 429, { 'retry-after': '600' });
    await stub.signedIn({ tier: 'basic' });
    await page.goto('/account');
    await hydrated(page);
    await page.getByRole('button', { name: 'Billing Management' }).click();
    const toast = page.getByText('Too many requests. Please try again later.');
    await expect(toast).toContainText(/You can try again after .*\d:\d\d [AP]M\.$/);
  },
);

inMexico(
  'a refused withdrawal says until when, and no longer',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stopTime(page, '2025-03-04T18:00:00Z');
    const limited = { success: false, code: 'rate_limited' };
    stub.respond('stateWithdrawal', limited, 429, { 'retry-after': '600' });
    await page.goto('/withdraw');
    await hydrated(page, 'main form');
    await page.getByLabel('Your name').fill('Ada Lovelace');
    await page.getByLabel(/^Phone number of your account/).fill('ada@example.com');
    await page.getByRole('button', { name: 'Confirm withdrawal' }).click();
    const alert = page.getByRole('main').getByRole('alert');
    await expect(alert).toContainText('You can try again after 12:10 PM.');
    await page.clock.runFor(600_000);
    await expect(alert).toHaveCount(0);
  },
);
