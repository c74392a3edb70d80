import type { Page } from './support/page.ts';
import { playedSeconds, watchPlayers } from './support/sound.ts';
import { buy, openChat, send, signIn, startTrial } from './support/steps.ts';
import { expect, test } from './support/test.ts';

test('public pages open, by links and by address, in each language', async ({ page }) => {
  await page.open('/');
  await page.link('Plans', 'footer');
  await page.at('/plans');
  await page.see({ role: 'heading', name: 'Choose Your Plan' });
  await page.link('Español', 'footer');
  await page.at('/es/plans');
  expect(await page.run(() => document.documentElement.lang)).toBe('es');
  await page.open('/pt-br/terms');
  await page.open('/no-such-page');
  await page.reads('Page Not Found');
});

test('the theme is kept', async ({ page }) => {
  const theme = () => page.run(() => document.documentElement.dataset['theme']);
  const paper = () => page.run(() => getComputedStyle(document.body).backgroundColor);
  await page.open('/contact');
  const light = await paper();
  await page.button(/dark/i);
  await expect.poll(theme).toBe('dark');
  await page.open('/plans');
  expect(await theme()).toBe('dark');
  expect(await paper()).not.toBe(light);
});

test('a person signs in with a code', async ({ page, phone }) => {
  await phone.write('Hi');
  await page.open('/login');
  await page.fill('Phone number', phone.number);
  await page.button('Send Verification Code');
  await page.see({ role: 'textbox', name: 'Verification code' });
  await page.fill('Verification code', await phone.code());
  await page.button('Verify Code');
  await page.at('/account');
  await page.reads('Account Management');
});

test('a newcomer writes on WhatsApp, and the page goes on by itself', async ({ page, phone }) => {
  await page.open('/login');
  await page.fill('Phone number', phone.number);
  await page.button('Send Verification Code');
  await page.reads("We haven't seen this number on WhatsApp yet");
  await page.see({
    role: 'link',
    name: /^Message Solace on WhatsApp/,
    within: 'main',
  });
  await phone.write('Hi');
  await page.see({ role: 'textbox', name: 'Verification code' });
  await page.fill('Verification code', await phone.code());
  await page.button('Verify Code');
  await page.at('/account');
});

test('a plan is bought, and the count is live', async ({ page, phone }) => {
  await signIn(page, phone);
  await buy(page);
  await page.reads('Basic');
  const { usage } = await phone.write('A message on WhatsApp');
  await page.reads(new RegExp(`${String(usage['used'])} (/|of) ${String(usage['limit'])}`), 'main');
});

test('a conversation by text: consent, message, reply, crisis lines', async ({ page, phone }) => {
  await openChat(page, phone);
  await send(page, 'Hello from this engine');
  await page.see({
    role: 'listitem',
    name: /Hello from this engine.*Delivered/,
  });
  await phone.botWrites('A reply that comes by itself');
  await page.reads('A reply that comes by itself', 'main');
  await send(page, 'This is a crisis');
  await page.see({ role: 'dialog' });
  await page.button('Close');
  await page.gone({ role: 'dialog' });
  await page.open('/chat');
  await page.reads('Hello from this engine', 'main');
});

async function expectToPlay(page: Page, within: string): Promise<void> {
  await watchPlayers(page);
  const play = {
    role: 'button',
    name: /^Play voice message/,
    within,
  } as const;
  // A press that waited long for the recording no longer counts: the next one plays at once.
  const hasPlayed = async () => {
    if (await page.find(play)) await page.click(play);
    return (await playedSeconds(page)) > 0.3;
  };
  await expect.poll(hasPlayed).toBe(true);
}

test('a conversation by voice: record, send, play', async ({ page, phone }) => {
  await startTrial(phone);
  await openChat(page, phone);
  await page.button('Record a voice message');
  // Something is recorded, however long the look takes.
  await page.reads(/[1-9]/, '[role=timer]');
  await page.button('Send', '[role=group]');
  await page.see({ role: 'listitem', name: /You said.*Delivered/ });
  await page.open('/chat');
  await expectToPlay(page, 'li');
});

test('what is being recorded outlives its page, and plays', async ({ page, phone }) => {
  await startTrial(phone);
  await openChat(page, phone);
  await page.button('Record a voice message');
  const slices = () =>
    page.run(() => Object.keys(sessionStorage).filter((key) => /slice/.test(key)).length);
  await expect.poll(slices).toBeGreaterThan(1);
  await page.open('/chat');
  await page.reads('The recording stopped when you left this page.', '[role=group]');
  await expectToPlay(page, '[role=group]');
  await page.button('Send', '[role=group]');
  await page.see({ role: 'listitem', name: /You said.*Delivered/ });
});

test('help: the lines of a country', async ({ page }) => {
  await page.open('/help-now');
  await page.button('Argentina');
  await page.reads('Centro de Asistencia al Suicida', 'main');
});

test('leaving: cancel, keep, log out, delete', async ({ page, phone }) => {
  await signIn(page, phone);
  await buy(page);
  await page.link('Cancel subscription', 'footer');
  await page.at('/cancel');
  await page.button('Cancel subscription', 'main');
  // By the keyboard: a second press at the same place would be a double click, which the page ignores.
  // The focus goes to the card when its button is gone, then to the status: only after that does it stay.
  const isSettled = () => {
    const focused = document.activeElement!;
    const isStatus = /is cancelled/.test(focused.innerHTML) && !focused.querySelector('button');
    return isStatus && document.querySelector('main [aria-disabled="true"]') === null;
  };
  await expect.poll(() => page.run(isSettled)).toBe(true);
  await page.see({ role: 'button', name: 'Keep my plan' });
  await page.run(() => (window.found as HTMLElement).focus());
  await page.press('Enter');
  await page.see({
    role: 'button',
    name: 'Cancel subscription',
    within: 'main',
  });
  await page.open('/account');
  await page.button('Delete Account', 'main');
  await page.button('Delete Account', 'dialog');
  await page.at('/login');
  expect(await page.run(() => localStorage.getItem('authToken'))).toBe(null);
});

test('after a log-out Back shows nothing personal', async ({ page, phone }) => {
  await openChat(page, phone);
  await send(page, 'Something personal');
  await page.reads('Something personal', 'main');
  await page.link('My Account');
  await page.at('/account');
  await page.button('Logout');
  await page.at('/login');
  await page.run(() => {
    addEventListener('popstate', () => (document.documentElement.dataset['returned'] = 'yes'));
    history.back();
  });
  await expect
    .poll(() => page.run(() => document.documentElement.dataset['returned'] ?? location.pathname))
    .toBe('yes');
  // The page that needs a sign-in leads to it, and back afterwards.
  await page.at('/login?next=%2Fchat');
  expect(await page.text()).not.toContain('Something personal');
});
