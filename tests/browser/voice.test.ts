import type { Page } from 'playwright/test';
import { ensureHeadlessBrowser } from './browser.ts';
import {
  chat,
  chooseOption,
  messageOf,
  openChat,
  openConversation,
  pageOf,
  visitAccount,
} from './support/chat.ts';
import {
  interrupt,
  loudness,
  microphoneArguments,
  openMicrophones,
  playedLengths,
  playedSeconds,
  timesAsked,
  timesMeasured,
  watchSound,
} from './support/microphone.ts';
import {
  expectToFit,
  hydrated,
  settle,
  setVisible,
  stopTime,
  storedToken,
  violations,
  follow,
} from './support/page.ts';
import { jwt, type Stub } from './support/stub.ts';
import { enterCode, expect, fullUnless, stubbed, test } from './support/test.ts';
import recordings from '../sandbox/bot/recordings.json' with { type: 'json' };
import type { Phone } from './support/phone.ts';

const launchOptions = {
  executablePath: ensureHeadlessBrowser(),
  args: microphoneArguments,
};
stubbed.use({ launchOptions });
test.use({ launchOptions });

const microphone = (page: Page) => page.getByRole('button', { name: 'Record a voice message' });
const panel = (page: Page) => page.getByRole('group', { name: 'Voice message' });
const playOwn = (page: Page) => panel(page).getByRole('button', { name: /^Play voice message/ });
/** However long it took. */
const recorded = /^Recorded, \d:\d\d/;
const press = (page: Page, name: string) =>
  panel(page).getByRole('button', { name, exact: true }).click();

async function openVoice(
  page: Page,
  stub: Stub,
  messages = [messageOf(1, 'Hello')],
  tier = 'basic',
): Promise<void> {
  await watchSound(page);
  stub.keepRecordings();
  await openConversation(page, stub, messages, { tier });
}

/** The height (percent) of the highest bar of the meter; 12 without a sound. */
const highestBar = (page: Page) =>
  panel(page)
    .locator('i')
    .evaluateAll((bars: HTMLElement[]) =>
      Math.max(...bars.map(({ style }) => Number.parseInt(style.height))),
    );

/** Starts a recording and waits until a second has passed and the microphone has been heard. */
async function record(page: Page): Promise<void> {
  await microphone(page).click();
  await expect(panel(page).getByRole('timer')).toHaveText(/^\d:\d\d$/);
  await expect(panel(page).getByRole('timer')).not.toHaveText('0:00');
  await expect.poll(() => highestBar(page)).toBeGreaterThan(20);
}

/** Opens the chat of somebody who has voice in the plan. */
async function openChatWithVoice(page: Page, phone: Phone): Promise<void> {
  await watchSound(page);
  await phone.beginTrial({ tier: 'premium', days: 3 });
  await openChat(page, phone);
}

test('a recording reaches the companion and plays, also after a reload', async ({
  page,
  phone,
}) => {
  await openChatWithVoice(page, phone);
  expect(await timesAsked(page)).toBe(0);
  await record(page);
  await press(page, 'Send');
  const own = page.getByRole('listitem').filter({ hasText: 'You said' });
  await expect(own.getByText('Delivered')).toBeVisible();
  await expect(panel(page)).toHaveCount(0);
  expect(await openMicrophones(page)).toBe(0);
  await page.reload();
  await own.getByRole('button', { name: /^Play voice message/ }).click();
  await expect.poll(() => playedSeconds(page)).toBeGreaterThan(0.3);
  expect(await loudness(page)).toBeGreaterThan(0.02);
});

test(
  'a recording of each kind is stored, and plays to its end',
  { tag: '@full' },
  async ({ page, phone }) => {
    await openChatWithVoice(page, phone);
    const token = await storedToken(page);
    for (const [index, { type, seconds, data }] of recordings.entries()) {
      const sent = await page.request.post(
        `/api/user/chat/voice?id=${crypto.randomUUID()}&seconds=2`,
        {
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': type,
          },
          data: Buffer.from(data, 'base64'),
        },
      );
      expect(sent.status(), type).toBe(200);
      const own = chat.message(page, 'You said').nth(index);
      await own.getByRole('button', { name: 'Play voice message, 0:02' }).click();
      await expect.poll(() => playedLengths(page), type).toHaveLength(index + 1);
      const length = (await playedLengths(page)).at(-1)!;
      expect(Math.abs(length - seconds), `the length of ${type}, ${length} s`).toBeLessThan(0.15);
      expect(await loudness(page), type).toBeGreaterThan(0.02);
      await expect(own.getByRole('button', { name: /^Play voice message/ })).toBeVisible();
    }
  },
);

stubbed(
  'what is counted meanwhile does not stop a recording',
  { tag: '@full' },
  async ({ page, stub }) => {
    const push = stub.openStream('chatStream');
    await openVoice(page, stub);
    await record(page);
    await press(page, 'Send');
    await page.evaluate(() => void (window.sound.endless = true));
    const own = chat.message(page, 'You said').filter({ has: page.getByRole('slider') });
    await own.getByRole('button', { name: /^Play/ }).click();
    await expect(own.getByRole('button', { name: 'Pause' })).toBeVisible();
    push({ type: 'usageUpdate', count: 2 });
    await expect.poll(() => playedSeconds(page)).toBeGreaterThan(0.5);
    await settle(page);
    await expect(own.getByRole('button', { name: 'Pause' })).toBeVisible();
  },
);

stubbed(
  'without voice in the plan the button explains, and asks for no permission',
  async ({ page, stub }) => {
    await openVoice(page, stub, undefined, 'free');
    await microphone(page).click();
    const notice = page
      .getByRole('status')
      .filter({ hasText: 'Voice messages are part of the Basic plan and above.' });
    await expect(notice.getByRole('link', { name: 'See the plans' })).toBeVisible();
    await expect(page.getByRole('alert')).toHaveCount(0);
    await expect(chat.field(page)).not.toHaveAttribute('aria-invalid');
    expect(await timesAsked(page)).toBe(0);
  },
);

stubbed(
  'a recording can be cancelled, stopped by Escape, played, kept, and thrown away',
  async ({ page, stub }) => {
    await openVoice(page, stub);
    await chat.field(page).fill('My draft');
    await microphone(page).click();
    await expect(panel(page).getByRole('timer')).toHaveText(/^\d:\d\d$/);
    expect(await violations(page)).toEqual([]);
    await press(page, 'Cancel');
    await expect(chat.field(page)).toBeVisible();
    await expect(microphone(page)).toBeFocused();
    expect(await openMicrophones(page)).toBe(0);
    await record(page);
    await page.keyboard.press('Escape');
    await expect(panel(page).getByRole('status').filter({ hasText: recorded })).toBeVisible();
    await expect(panel(page)).toBeFocused();
    expect(await openMicrophones(page)).toBe(0);
    expect(await violations(page)).toEqual([]);
    await expectToFit(page, 320, 360, 1440);
    await playOwn(page).click();
    await expect.poll(() => playedSeconds(page)).toBeGreaterThan(0.1);

    // It outlasts a visit of another page, and leaving the site asks first.
    await visitAccount(page);
    await expect(panel(page).getByText(recorded)).toBeVisible();
    const asked = page.waitForEvent('dialog');
    await page.close({ runBeforeUnload: true });
    const dialog = await asked;
    expect(dialog.type()).toBe('beforeunload');
    await dialog.dismiss();
    await press(page, 'Delete');
    await expect(chat.field(page)).toHaveValue('My draft');
    await expect(microphone(page)).toBeFocused();
    expect(stub.calls('sendVoice')).toEqual([]);
  },
);

// Reports of other products: open-webui 23695, nextcloud/talk-android 5199.
stubbed(
  'the screen stays on while something is recorded, and no longer',
  { tag: '@full' },
  async ({ page, stub }) => {
    await page.addInitScript(() => {
      const locks = new Set<object>();
      const show = () => (document.documentElement.dataset['locks'] = String(locks.size));
      const request = async () => {
        const lock = { release: async () => void (locks.delete(lock), show()) };
        locks.add(lock);
        show();
        return lock;
      };
      Object.defineProperty(navigator, 'wakeLock', { value: { request } });
    });
    const isHeld = (count: number) =>
      expect(page.locator(`html[data-locks="${count}"]`)).toHaveCount(1);
    await openVoice(page, stub);
    for (const end of ['Send', 'Cancel']) {
      await record(page);
      await isHeld(1);
      await press(page, end);
      await isHeld(0);
    }
  },
);

const hide = (page: Page) => setVisible(page, false).then(() => setVisible(page, true));
/** Reports of other products: RecordRTC 29, EnviousWispr 1408, prscX/react-native-voice-recorder 22. */
const ends: [what: string, end: (page: Page) => Promise<unknown>, sentence: string][] = [
  [
    'a call that takes the microphone',
    (page) => interrupt(page, 'mute'),
    'something else took the microphone',
  ],
  [
    'a microphone that is unplugged',
    (page) => interrupt(page, 'ended'),
    'something else took the microphone',
  ],
  [
    'a locked phone, or a tab in the background',
    hide,
    'The recording stopped when you left this page.',
  ],
];

stubbed(
  'a recording that something else ends says so, and what was recorded can be sent',
  { tag: '@full' },
  async ({ page, stub }) => {
    await openVoice(page, stub);
    for (const [index, [what, end, sentence]] of ends.entries()) {
      await record(page);
      await end(page);
      await expect(
        panel(page).getByRole('status').filter({ hasText: sentence }),
        what,
      ).toBeVisible();
      expect(await openMicrophones(page), what).toBe(0);
      await playOwn(page).click();
      await expect.poll(() => playedSeconds(page), what).toBeGreaterThan(0.1);
      await press(page, 'Send');
      await expect(
        chat.message(page, 'You said').getByRole('button', { name: /Play|Pause/ }),
      ).toHaveCount(index + 1);
      expect(stub.calls('sendVoice'), what).toHaveLength(index + 1);
    }
  },
);

stubbed(
  'the last ten seconds are counted down, and two minutes are kept',
  async ({ page, stub }) => {
    await stopTime(page);
    await openVoice(page, stub);
    await microphone(page).click();
    const barAfterPause = () => page.clock.runFor(100).then(() => highestBar(page));
    await expect.poll(barAfterPause).toBeGreaterThan(20);
    await page.clock.fastForward(111_000);
    await expect(panel(page).getByText(/^[1-9] seconds? left$/)).toBeVisible();
    await expect(
      panel(page).getByRole('status').filter({ hasText: '10 seconds left' }),
    ).toHaveCount(1);
    await page.clock.fastForward(10_000);
    await expect(panel(page)).toContainText('The recording was stopped after two minutes.');
    await press(page, 'Send');
    await expect.poll(() => stub.calls('sendVoice').length).toBe(1);
    expect(stub.calls('sendVoice')[0]?.search.get('seconds')).toBe('120');
  },
);

stubbed(
  'a refused or muted microphone is noticed, or a missing recorder',
  async ({ page, stub }) => {
    await openVoice(page, stub);
    const notice = (hasText: string) => page.getByRole('status').filter({ hasText });
    // tests/rules has the other refusals.
    await page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = () =>
        Promise.reject(new DOMException('', 'NotAllowedError'));
    });
    await microphone(page).click();
    await expect(notice('Solace may not use the microphone.')).toBeVisible();
    await chat.field(page).fill('Then I write');
    await expect(notice('Solace may not use the microphone.')).toHaveCount(0);
    await page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = async () =>
        new AudioContext().createMediaStreamDestination().stream;
    });
    await microphone(page).click();
    // A sound that starts slowly proves nothing at first.
    await expect.poll(() => timesMeasured(page)).toBeGreaterThan(5);
    await expect(panel(page).getByRole('timer')).not.toHaveText('0:00');
    await press(page, 'Stop');
    await expect(notice('Is the microphone muted?')).toBeVisible();
    await page.evaluate(() => Reflect.deleteProperty(window, 'MediaRecorder'));
    await microphone(page).click();
    await expect(notice('This browser cannot record.')).toBeVisible();
    expect(await timesAsked(page)).toBe(0);
  },
);

stubbed(
  'the question of the browser is announced where it will ask',
  { tag: '@full' },
  async ({ page, stub }) => {
    await openVoice(page, stub);
    const question = page.getByText('Your browser will ask for the microphone.');
    const answer = (state: string) =>
      page.evaluate((known) => {
        navigator.permissions.query = async () => ({ state: known }) as PermissionStatus;
      }, state);
    await answer('granted');
    await page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = () =>
        new Promise((_, refuse) =>
          addEventListener('refused', () => refuse(new DOMException('', 'NotAllowedError'))),
        );
    });
    await microphone(page).click();
    await expect(microphone(page)).toHaveAttribute('aria-disabled', 'true');
    await settle(page);
    await expect(question).toHaveCount(0);
    await answer('prompt');
    await page.evaluate(() => void dispatchEvent(new Event('refused')));
    await expect(page.getByText('Solace may not use the microphone.')).toBeVisible();
    await microphone(page).click();
    await expect(question).toBeVisible();
  },
);

stubbed(
  'a microphone that is allowed after its person has left is closed',
  async ({ page, stub }) => {
    await openVoice(page, stub);
    await page.evaluate(() => {
      const { mediaDevices } = navigator;
      const ask = mediaDevices.getUserMedia.bind(mediaDevices);
      mediaDevices.getUserMedia = async (constraints) => {
        await new Promise((allow) => addEventListener('allowed', allow, { once: true }));
        return ask(constraints);
      };
    });
    await microphone(page).click();
    await expect(microphone(page)).toHaveAttribute('aria-disabled', 'true');
    await follow(page.getByRole('link', { name: 'My Account' }), '**/account');
    await page.evaluate(() => void dispatchEvent(new Event('allowed')));
    await expect.poll(() => page.evaluate(() => window.sound.streams.length)).toBe(1);
    await expect.poll(() => openMicrophones(page)).toBe(0);
  },
);

for (const part of ['recorder', 'voice-panel'])
  stubbed(
    `the microphone is closed if the ${part} does not load, and the draft stays`,
    fullUnless(part === 'recorder'),
    async ({ page, stub, expectedErrors }) => {
      expectedErrors.push(/ERR_FAILED/);
      await openVoice(page, stub);
      await page.route(`**/${part}.js`, (route) => route.abort());
      await chat.field(page).fill('My draft');
      await microphone(page).click();
      const refresh = page
        .getByRole('status')
        .filter({ hasText: 'Please check your internet connection.' })
        .getByRole('button', { name: 'Refresh Page' });
      await expect(refresh).toBeVisible();
      await expect(chat.field(page)).toHaveValue('My draft');
      expect(await timesAsked(page)).toBe(1);
      expect(await openMicrophones(page)).toBe(0);
      await page.unrouteAll();
      await refresh.click();
      await expect(refresh).toBeHidden();
      await expect(chat.field(page)).toHaveValue('My draft');
    },
  );

stubbed(
  'a recording that cannot be played says so, and its transcript stays',
  async ({ page, stub }) => {
    const voice = { seconds: 3, type: 'audio/ogg', bytes: 9 };
    await openVoice(page, stub, [
      messageOf(1, 'What I said', { voice }),
      messageOf(2, 'Lost', { voice }),
    ]);
    const [broken, lost] = [chat.message(page, 'What I said'), chat.message(page, 'Lost')];
    stub.respond('getVoice', 'no sound');
    await broken.getByRole('button', { name: /^Play/ }).click();
    await expect(broken.getByRole('status')).toHaveText('This recording cannot be played here.');
    await expect(broken).toContainText('What I said');
    stub.respond('getVoice', {}, 404);
    await lost.getByRole('button', { name: /^Play/ }).click();
    await expect(lost.getByRole('status')).toHaveText('This recording cannot be played here.');
    expect(await violations(page)).toEqual([]);
  },
);

stubbed(
  'one recording plays at a time, at the chosen speed and from the chosen second',
  { tag: '@full' },
  async ({ page, stub }) => {
    await openVoice(page, stub);
    for (const count of [1, 2]) {
      await record(page);
      await press(page, 'Send');
      await expect(chat.log(page).getByRole('slider')).toHaveCount(count);
    }
    const recordings = chat.message(page, 'You said').filter({ has: page.getByRole('slider') });
    const [first, second] = [recordings.first(), recordings.last()];
    await page.evaluate(() => void (window.sound.endless = true));
    await first.getByRole('button', { name: /^Play/ }).click();
    await expect(first.getByRole('button', { name: 'Pause' })).toBeVisible();
    await second.getByRole('button', { name: /^Play/ }).click();
    await expect(first.getByRole('button', { name: /^Play/ })).toBeVisible();
    await first.getByRole('button', { name: 'Speed 1' }).click();
    await expect(second.getByRole('button', { name: 'Speed 1.5' })).toBeVisible();
    const position = first.getByRole('slider', { name: 'Position' });
    await position.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    await expect(position).toHaveAttribute('aria-valuetext', /^0:01 of \d:\d\d$/);
    await first.getByRole('button', { name: /^Play/ }).click();
    const speed = () => page.evaluate(() => window.sound.players.at(-1)!.playbackRate);
    await expect.poll(speed).toBe(1.5);
  },
);

/** Each way to leave the conversation while something runs, and whether a recording is kept then. */
const ways: [string, leave: (page: Page, stub: Stub) => Promise<unknown>, isKept: boolean][] = [
  [
    'the account',
    (page) => follow(page.getByRole('link', { name: 'My Account' }), '**/account'),
    true,
  ],
  [
    'a page of the footer',
    (page) =>
      follow(page.getByRole('contentinfo').getByRole('link', { name: 'Safety' }), '**/safety'),
    true,
  ],
  [
    'the crisis lines',
    (page) =>
      follow(
        page.getByRole('contentinfo').getByRole('link', { name: 'Get help now' }),
        '**/help-now',
      ),
    true,
  ],
  ['the logo', (page) => follow(page.getByRole('link', { name: 'Solace, home' }), /\/$/), true],
  ['clearing', clear, false],
];

async function clear(page: Page, stub: Stub): Promise<void> {
  stub.respond('clearChat', { success: true });
  await chooseOption(page, 'Clear conversation');
  await expect(panel(page)).toHaveCount(0);
}

stubbed(
  'a recording and a player stop with the page that started them, and the recording is kept',
  { tag: '@full' },
  async ({ page, stub }) => {
    await openVoice(page, stub);
    await record(page);
    await press(page, 'Send');
    const sent = chat.message(page, 'You said').filter({ has: page.getByRole('slider') });
    for (const [way, leave, isKept] of ways) {
      await page.evaluate(() => void (window.sound.endless = true));
      await sent.getByRole('button', { name: /^Play/ }).click();
      await expect(sent.getByRole('button', { name: 'Pause' }), way).toBeVisible();
      await leave(page, stub);
      await expect.poll(() => playing(page), way).toBe(0);
      if (!isKept) break;
      await page.goBack();
      await record(page);
      await leave(page, stub);
      await expect.poll(() => openMicrophones(page), way).toBe(0);
      await page.goBack();
      await expect(panel(page), way).toContainText(
        'The recording stopped when you left this page.',
      );
      await press(page, 'Delete');
    }
  },
);

stubbed(
  'the beginning of a recording is announced once, by a region that was there before',
  async ({ page, stub }) => {
    await openVoice(page, stub);
    await page.evaluate(() => {
      for (const region of document.querySelectorAll('output')) region.dataset['before'] = 'yes';
    });
    await record(page);
    const said = page.locator('output').filter({ hasText: 'Recording' });
    await expect(said).toHaveCount(1);
    await expect(said).toHaveAttribute('data-before', 'yes');
  },
);

stubbed(
  'a recording stops when its session ends by itself, and waits for its person',
  { tag: '@full' },
  async ({ page, stub, expectedErrors }) => {
    expectedErrors.push(/status of 401/);
    const [mine, mineLater] = ['first', 'second'].map((name) =>
      jwt({ sub: 'me' }).replace(/[^.]+$/, name),
    ) as [string, string];
    await watchSound(page);
    stub.keepRecordings();
    const push = stub.openStream('chatStream');
    await stub.signedIn({ tier: 'basic' }, mine);
    const messages = pageOf([messageOf(1, 'Hello')]);
    stub.respond('getChat', messages);
    await page.goto('/chat');
    await hydrated(page, 'main form');
    await record(page);

    stub.respondByToken('getChat', { [mineLater]: messages });
    push({ type: 'reset' });
    await page.waitForURL('**/login?next=%2Fchat');
    await expect.poll(() => openMicrophones(page)).toBe(0);

    stub.respond('verifyOtp', {
      success: true,
      token: mineLater,
      status: 'approved',
    });
    await page.getByLabel('Phone number').fill('+15551234567');
    await enterCode(page);
    await page.waitForURL('**/chat');
    await expect(panel(page)).toContainText('The recording stopped when you left this page.');
    await press(page, 'Send');
    await expect.poll(() => stub.calls('sendVoice').length).toBe(1);
  },
);

const playing = (page: Page) =>
  page.evaluate(() => window.sound.players.filter(({ paused }) => !paused).length);

stubbed(
  'a recording outlives a reload, and is sent the same',
  { tag: '@full' },
  async ({ page, stub }) => {
    await openVoice(page, stub);
    await record(page);
    await press(page, 'Stop');
    await expect(panel(page).getByText(recorded)).toBeVisible();
    await expect
      .poll(() => page.evaluate(() => JSON.stringify(sessionStorage)))
      .toContain('base64');
    page.on('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await expect(panel(page).getByText(recorded)).toBeVisible();
    await playOwn(page).click();
    await expect.poll(() => playedSeconds(page)).toBeGreaterThan(0.1);
    await press(page, 'Send');
    await expect.poll(() => stub.calls('sendVoice').length).toBe(1);
    await expect(panel(page)).toHaveCount(0);
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('base64');
  },
);

const kept = (page: Page) => page.evaluate(() => JSON.stringify(sessionStorage));
const slices = (page: Page) =>
  page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.includes('slice')).length);

/** Reloads while something is recorded; the page asks first. */
async function reloadRecording(page: Page): Promise<void> {
  page.once('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await expect(panel(page)).toContainText('The recording stopped when you left this page.');
}

stubbed(
  'what is being recorded outlives a reload, stays if it could not be sent, and is sent again, the same',
  async ({ page, stub }) => {
    await openVoice(page, stub);
    await record(page);
    await expect.poll(() => slices(page)).toBeGreaterThan(1);
    await reloadRecording(page);
    await playOwn(page).click();
    await expect.poll(() => playedSeconds(page)).toBeGreaterThan(1);
    expect(await loudness(page)).toBeGreaterThan(0.02);
    await page.reload();
    await expect(panel(page)).toContainText('The recording stopped when you left this page.');

    stub.respond('sendVoice', {}, 503);
    await press(page, 'Send');
    await expect(page.getByRole('alert')).toBeVisible();
    await expect(playOwn(page)).toBeVisible();
    stub.keepRecordings();
    await press(page, 'Send again');
    await expect(panel(page)).toHaveCount(0);
    await expect(chat.message(page, 'You said').getByRole('button', { name: /^Play/ })).toHaveCount(
      1,
    );
    const [first, second] = stub.calls('sendVoice');
    expect(Number(first?.search.get('seconds'))).toBeGreaterThan(1);
    expect(second?.search.toString()).toBe(first?.search.toString());
    expect(second?.body).toEqual(first?.body);
    expect(await kept(page)).not.toContain('base64');
  },
);

stubbed(
  'what is being recorded goes when it is thrown away or cleared',
  { tag: '@full' },
  async ({ page, stub }) => {
    await openVoice(page, stub);
    const throwAway = [() => press(page, 'Cancel'), () => clear(page, stub)];
    for (const thrownAway of throwAway) {
      await record(page);
      await expect.poll(() => slices(page)).toBeGreaterThan(0);
      await thrownAway();
      await settle(page);
      expect(await kept(page)).not.toContain('base64');
    }
  },
);

stubbed(
  'a recording is kept as far as a full storage takes it',
  { tag: '@full' },
  async ({ page, stub }) => {
    await openVoice(page, stub);
    await record(page);
    await expect.poll(() => slices(page)).toBeGreaterThan(0);
    await page.evaluate(() => {
      for (let size = 2 ** 22; size >= 1; size /= 2)
        try {
          for (;;) sessionStorage.setItem(crypto.randomUUID(), 'x'.repeat(size));
        } catch {
          // Smaller ones may still fit.
        }
    });
    const sentence = panel(page).getByText(
      'There is no room on your device to keep this recording.',
    );
    await expect(sentence).toBeVisible();
    await press(page, 'Stop');
    await expect(panel(page).getByRole('status').filter({ hasText: recorded })).toBeVisible();
    await expect(sentence).toBeVisible();
    await reloadRecording(page);
    await playOwn(page).click();
    await expect.poll(() => playedSeconds(page)).toBeGreaterThan(0.1);
    await press(page, 'Send');
    await expect.poll(() => stub.calls('sendVoice').length).toBe(1);
  },
);

test(
  'a recording that the companion refused is sent again, like a text',
  { tag: '@full' },
  async ({ page, phone }) => {
    await openChatWithVoice(page, phone);
    await phone.botMode('refuse');
    await record(page);
    await press(page, 'Send');
    const own = page.getByRole('listitem').filter({ hasText: 'You said' });
    await expect(own.getByText('Not delivered')).toBeVisible();
    await phone.botMode('answer');
    await own.getByRole('button', { name: 'Send again' }).click();
    await expect(own.getByText('Delivered')).toBeVisible();
    await expect(own).toHaveCount(1);
  },
);
