import { setTimeout as sleep } from 'node:timers/promises';
import { Transform } from 'node:stream';
import { expect } from 'playwright/test';
import { callJson } from '../product/machine.ts';
import { startLine, type Weather } from '../product/line.ts';
import { ensureHeadlessBrowser } from './browser.ts';
import { acceptNotice, chat } from './support/chat.ts';
import { microphoneArguments } from './support/microphone.ts';
import { enterCode, test } from './support/test.ts';

/** How long the person talks; ten minutes show what one minute does not need to. */
const minutes = Number(process.env['NETWORK_MINUTES'] ?? 1);

const latencyMs = 300;
const bytesPerSecond = 400_000 / 8;
const frozenShare = 0.05;

/** A slow and lossy line: some exchanges never end. */
const badWeather: Weather = (path) => {
  // A page that never comes is the browser's matter, and shows its own page.
  const mayFreeze = /^\/(api|auth)\//.test(path) || path.startsWith('/assets/');
  if (mayFreeze && Math.random() < frozenShare)
    return { [Math.random() < 0.5 ? 'before' : 'after']: new Promise(() => {}) };
  return { before: sleep(latencyMs), body: throttle() };
};

function throttle(): Transform {
  return new Transform({
    transform(chunk: Buffer, _, done) {
      setTimeout(() => done(null, chunk), (chunk.length / bytesPerSecond) * 1000);
    },
  });
}

test.use({
  viewport: { width: 390, height: 844 },
  launchOptions: { executablePath: ensureHeadlessBrowser(), args: microphoneArguments },
  expectedErrors: [/net::ERR_|status of 4/],
});

test('nothing is lost on a slow and lossy network', { tag: '@full' }, async ({ page, phone }) => {
  test.setTimeout((minutes + 8) * 60_000);
  const line = await startLine(process.env.SITE_URL!);
  line.set(badWeather);
  await phone.write('Hi');
  const { url } = await phone.trial({ tier: 'platinum', days: 3 });
  const trialToken = new URL(url).searchParams.get('token');
  await callJson('POST', `${process.env.SITE_URL}/auth/verify-trial-token`, { trialToken });

  await page.goto(`${line.url}/login?next=/chat`);
  await page.getByLabel('Phone number').fill(phone.number);
  await enterCode(page, phone);
  await page.goto(`${line.url}/chat`);
  await acceptNotice(page);

  const texts: string[] = [];
  let recordings = 0;
  const end = Date.now() + minutes * 60_000;
  const panel = page.getByRole('group', { name: 'Voice message' });
  while (Date.now() < end) {
    if (texts.length % 5 === 4) {
      await page.getByRole('button', { name: 'Record a voice message' }).click();
      await expect(panel.getByRole('timer')).toHaveText(/[1-9]$/);
      await expect(async () => {
        await panel.getByRole('button', { name: /^Send/ }).click({ timeout: 1000 });
        await expect(panel).toHaveCount(0);
      }).toPass();
      recordings += 1;
    }
    const text = `Number ${texts.push('') - 1} of a long talk`;
    texts[texts.length - 1] = text;
    await chat.field(page).fill(text);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const own = chat.message(page, text).filter({ hasText: 'You said' });
    await expect(async () => {
      const again = own.getByRole('button', { name: 'Send again' });
      if (await again.isVisible()) await again.click();
      await expect(own.getByText(/Sent|Delivered/)).toBeVisible({ timeout: 5000 });
    }).toPass();
  }

  const replies = texts.length + recordings;
  await expect(page.getByRole('listitem').filter({ hasText: 'Solace said' })).toHaveCount(replies);
  const shown = await page.getByRole('listitem').filter({ hasText: 'You said' }).allInnerTexts();
  const shownTexts = shown.flatMap((item) => /Number \d+ of a long talk/.exec(item)?.[0] ?? []);
  const heard = (await phone.webMessages()).map(({ text }) => text).filter(Boolean);
  // oxlint-disable-next-line no-console -- the figures are what this test is for
  console.log(
    `Sent ${texts.length} texts and ${recordings} recordings in ${minutes} min. ` +
      `Shown: ${shown.length}, in order: ${shownTexts.join() === texts.join()}, ` +
      `shown twice: ${shownTexts.length - new Set(shownTexts).size}, ` +
      `heard twice: ${heard.length - new Set(heard).size}.`,
  );
  expect(shownTexts).toEqual(texts);
  expect(shown).toHaveLength(texts.length + recordings);
  expect(heard).toEqual(texts);
  await line.close();
});
