import { setTimeout as sleep } from 'node:timers/promises';
import { Transform } from 'node:stream';
import { expect, type Page } from 'playwright/test';
import { startLine, type Weather } from '../product/line.ts';
import { ensureHeadlessBrowser } from './browser.ts';
import { chat } from './support/chat.ts';
import { microphoneArguments } from './support/microphone.ts';
import type { Phone } from './support/phone.ts';
import { test } from './support/test.ts';

/** How long the person talks, each fifth time by voice; without it, for a few messages. */
const minutes = Number(process.env['NETWORK_MINUTES'] ?? 0);
const fewMessages = 20;
/** A week has 160 of them. */
const mostMessages = 155;
/** Of one step, however slow the machine is: only a failure takes so long. */
const patience = { timeout: 300_000 };

const latencyMs = 300;
const bytesPerSecond = 400_000 / 8;
const frozenShare = 0.05;

let frozen = 0;

/** A slow and lossy line: some exchanges never end. */
const badWeather: Weather = (path) => {
  // A page that never comes is the browser's matter, and shows its own page.
  const mayFreeze = /^\/(api|auth)\//.test(path) || path.startsWith('/assets/');
  if (mayFreeze && Math.random() < frozenShare) {
    frozen += 1;
    return { [Math.random() < 0.5 ? 'before' : 'after']: new Promise(() => {}) };
  }
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
  launchOptions: {
    executablePath: ensureHeadlessBrowser(),
    args: microphoneArguments,
  },
  expectedErrors: [/net::ERR_|status of 4/],
  // The test has no limit of its own.
  actionTimeout: patience.timeout,
  navigationTimeout: patience.timeout,
});

/** Signs in and accepts the notice; loads the page again where a file of it never comes, as people do. */
async function reachChat(page: Page, phone: Phone, site: string): Promise<void> {
  const [number, code] = [page.getByLabel('Phone number'), page.getByLabel('Verification code')];
  const usable = { timeout: 30_000 };
  await expect(async () => {
    await phone.write('Hi');
    await page.goto(`${site}/login?next=/chat`, { waitUntil: 'commit' });
    const first = chat.field(page).or(chat.accept(page)).or(number).or(code).first();
    await first.waitFor(usable);
    if (await number.isVisible()) {
      await number.fill(phone.number, usable);
      await page.getByRole('button', { name: /Send Verification Code/ }).click(usable);
      await code.waitFor(usable);
    }
    if (await code.isVisible()) {
      await code.fill(await phone.code(), usable);
      await page
        .getByRole('button', {
          name: 'Verify Code',
          exact: true,
        })
        .click(usable);
    }
    await chat.accept(page).waitFor(usable);
    for (const name of ['I am 18 years or older.', /^I agree that/])
      await page.getByRole('checkbox', { name }).check(usable);
    await chat.accept(page).click(usable);
    await chat.field(page).waitFor(usable);
  }).toPass(patience);
}

let waits = 0;

/** Sends a text until it has arrived: again where the line took it, and later when the page says that it was too fast. */
async function say(page: Page, text: string): Promise<void> {
  const own = chat.message(page, text).filter({ hasText: 'You said' });
  const again = own.getByRole('button', { name: 'Send again' });
  const send = page.getByRole('button', { name: 'Send', exact: true });
  const isRefused = page
    .getByRole('main')
    .getByRole('alert')
    .filter({ hasText: 'You can try again after' });
  await chat.field(page).fill(text);
  await expect(async () => {
    // A refused text is in the field again.
    if ((await chat.field(page).inputValue()) === text) {
      if (await isRefused.isVisible()) waits += 1;
      await expect(isRefused).toHaveCount(0, patience);
      await send.click();
    }
    if (await again.isVisible()) await again.click();
    await expect(own.getByText(/Sent|Delivered/)).toBeVisible({ timeout: 5000 });
  }).toPass(patience);
}

/** Loads the page again where a file of the recorder never comes, as people do: browsers wait for it for ever. */
async function beginRecording(page: Page): Promise<void> {
  const usable = { timeout: 30_000 };
  const timer = page.getByRole('group', { name: 'Voice message' }).getByRole('timer');
  await expect(async () => {
    await page.getByRole('button', { name: 'Record a voice message' }).click(usable);
    await timer.waitFor(usable).catch(async (error: unknown) => {
      await page.reload({ waitUntil: 'commit' });
      await chat.field(page).waitFor(usable);
      throw error;
    });
  }).toPass(patience);
}

async function sayByVoice(page: Page): Promise<void> {
  const panel = page.getByRole('group', { name: 'Voice message' });
  const send = panel.getByRole('button', { name: /^Send/ });
  await beginRecording(page);
  await expect(panel.getByRole('timer')).toHaveText(/[1-9]$/);
  await expect(async () => {
    if (await send.isVisible()) await send.click({ timeout: 1000 });
    await expect(panel).toHaveCount(0, { timeout: 5000 });
  }).toPass(patience);
}

test('nothing is lost on a slow and lossy network', { tag: '@full' }, async ({ page, phone }) => {
  test.setTimeout(0);
  const startedAt = performance.now();
  const line = await startLine(process.env.SITE_URL!);
  line.set(badWeather);
  await phone.beginTrial({ tier: 'platinum', days: 3 });

  await reachChat(page, phone, line.url);

  const texts: string[] = [];
  let recordings = 0;
  const talksOn = () => {
    const said = texts.length + recordings;
    if (minutes === 0) return said < fewMessages;
    return said < mostMessages && performance.now() - startedAt < minutes * 60_000;
  };
  while (talksOn()) {
    if ((texts.length + recordings) % 5 === 4) {
      await sayByVoice(page);
      recordings += 1;
    } else {
      const text = `Number ${texts.length} of a long talk`;
      texts.push(text);
      await say(page, text);
    }
  }

  const replies = texts.length + recordings;
  const lasted = ((performance.now() - startedAt) / 60_000).toFixed(1);
  const heardReplies = page.getByRole('listitem').filter({ hasText: 'Solace said' });
  await expect(heardReplies).toHaveCount(replies, patience);
  const shown = await page.getByRole('listitem').filter({ hasText: 'You said' }).allInnerTexts();
  const shownTexts = shown.flatMap((item) => /Number \d+ of a long talk/.exec(item)?.[0] ?? []);
  const received = (await phone.webMessages()).map(({ text }) => text);
  const heard = received.filter(Boolean);
  // oxlint-disable-next-line no-console -- the figures are what this test is for
  console.log(
    `Sent ${texts.length} texts and ${recordings} recordings in ${lasted} min, ${frozen} exchanges froze, ${waits} times too fast. ` +
      `Shown: ${shown.length}, in order: ${shownTexts.join() === texts.join()}, ` +
      `shown twice: ${shownTexts.length - new Set(shownTexts).size}, ` +
      `heard twice: ${heard.length - new Set(heard).size}, ` +
      `recordings heard: ${received.length - heard.length}.`,
  );
  expect(shownTexts).toEqual(texts);
  expect(shown).toHaveLength(texts.length + recordings);
  expect(heard).toEqual(texts);
  expect(received).toHaveLength(texts.length + recordings);
  await line.close();
});
