import { chat, messageOf, openConversation } from './support/chat.ts';
import { setVisible, stopTime } from './support/page.ts';
import { expect, stubbed } from './support/test.ts';

/** What ends by the clock alone: days, and refusals until a time. In Mexico City it is six hours earlier than in UTC. */
const inMexico = stubbed.extend({
  contextOptions: { timezoneId: 'America/Mexico_City', reducedMotion: 'reduce' },
});

inMexico('a day ends at midnight of the reader, also in the separator', async ({ page, stub }) => {
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
});
