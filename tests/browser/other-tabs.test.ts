import type { Locator, Page } from 'playwright/test';
import { chat, messageOf, pageOf } from './support/chat.ts';
import { follow, hydrated } from './support/page.ts';
import { jwt, over, profileOf, type Stub } from './support/stub.ts';
import { fullUnless, enterCode, expect, stubbed as test } from './support/test.ts';

/** What somebody has written in one tab, while their session ends, or another one begins, in another tab. */

const sessionOf = (sub: string, name: string) => jwt({ sub }).replace(/[^.]+$/, name);
const mine = sessionOf('me', 'firstOfMine');
const mineLater = sessionOf('me', 'secondOfMine');
const yours = sessionOf('you', 'firstOfYours');

/** A place where people write; `isPublic`: its form stays when the session has ended. */
type Place = {
  path: string;
  isPublic: boolean;
  field: (page: Page) => Locator;
};

const places: Record<string, Place> = {
  letter: {
    path: '/contact',
    isPublic: true,
    field: (page) => page.getByLabel('Message'),
  },
  statement: {
    path: '/withdraw',
    isPublic: true,
    field: (page) => page.getByLabel('Your name'),
  },
  draft: { path: '/chat', isPublic: false, field: chat.field },
};

/** Opens the place of the first session, with half a text in its field, and another tab. */
async function begin(page: Page, stub: Stub, { path, field }: Place): Promise<Page> {
  await stub.signedIn({}, mine);
  const profile = { success: true, profile: profileOf() };
  stub.respondByToken('getMe', {
    [mine]: profile,
    [mineLater]: profile,
    [yours]: profile,
  });
  stub.respond('getChat', pageOf([messageOf(1, 'Hello')]));
  await page.goto(path);
  await hydrated(page, 'main form');
  await field(page).fill('Of the worst day');
  const other = await page.context().newPage();
  await other.goto('/plans');
  return other;
}

/** The other tab learns that the session is over. */
async function endSession(stub: Stub, page: Page, other: Page, place: Place): Promise<void> {
  const profile = { success: true, profile: profileOf() };
  stub.respondByToken('getMe', {
    [mine]: null,
    [mineLater]: profile,
    [yours]: profile,
  });
  stub.respond('getWithdrawal', over, 401);
  await other.goto('/account');
  await other.waitForURL('**/login**');
  await expectToBeGuest(page, place);
}

/** A page of members leads to the login by itself. */
async function expectToBeGuest(page: Page, { isPublic }: Place): Promise<void> {
  if (!isPublic) await page.waitForURL('**/login**');
  await expect(page.getByRole('banner').getByRole('link', { name: 'Login' })).toBeVisible();
}

async function signInAs(page: Page, stub: Stub, token: string): Promise<void> {
  stub.respond('getWithdrawal', {
    success: true,
    contract: null,
    statement: null,
  });
  stub.respond('verifyOtp', {
    success: true,
    token,
    status: 'approved',
  });
  if (!page.url().includes('/login'))
    await follow(page.getByRole('banner').getByRole('link', { name: 'Login' }), '**/login');
  await page.getByLabel('Phone number').fill('+15551234567');
  await enterCode(page);
  await page.waitForURL((url) => !url.pathname.endsWith('/login'));
}

/** A form that comes back does not know where the caret was. */
async function writeOn(field: Locator, text: string): Promise<void> {
  await field.press('End');
  await field.pressSequentially(text);
}

const kept = (page: Page) => page.evaluate(() => JSON.stringify(sessionStorage));

async function reopen(page: Page, { path }: Place): Promise<void> {
  await page.goto(path);
  await hydrated(page, 'main form');
}

for (const [name, place] of Object.entries(places)) {
  const { field, isPublic } = place;
  /** Each event in one place; in the others it is a long tour. */
  const only = (chosen: string) => fullUnless(name === chosen);

  test(
    `a ${name} whose session ended in another tab is its person’s, and no next one’s`,
    only('letter'),
    async ({ page, stub, expectedErrors }) => {
      expectedErrors.push(/status of 401/);
      const other = await begin(page, stub, place);
      await endSession(stub, page, other, place);
      // Whoever goes on writing is who began.
      if (isPublic) await writeOn(field(page), ', and of the night');
      const text = isPublic ? 'Of the worst day, and of the night' : 'Of the worst day';
      await signInAs(page, stub, mineLater);
      await reopen(page, place);
      await expect(field(page)).toHaveValue(text);

      stub.respondByToken('getMe', {
        [yours]: {
          success: true,
          profile: profileOf(),
        },
      });
      await other.goto('/account');
      await other.waitForURL('**/login**');
      await expectToBeGuest(page, place);
      if (isPublic) await writeOn(field(page), ', of May');
      await signInAs(page, stub, yours);
      await reopen(page, place);
      await expect(field(page)).toHaveValue('');
      expect(await kept(page)).not.toMatch(/worst|night|May/);
    },
  );

  test(
    `a ${name} goes before another person who signs in in another tab`,
    only('statement'),
    async ({ page, stub, expectedErrors }) => {
      expectedErrors.push(/status of 401/);
      const other = await begin(page, stub, place);
      await endSession(stub, page, other, place);
      if (isPublic) await writeOn(field(page), ', and of the night');
      await signInAs(other, stub, yours);
      await expect(
        page.getByRole('banner').getByRole('link', { name: 'My Account' }),
      ).toBeVisible();
      if (isPublic) await expect(field(page)).toHaveValue('');
      expect(await kept(page)).not.toMatch(/worst|night/);
      await reopen(page, place);
      await expect(field(page)).toHaveValue('');
    },
  );

  test(
    `a ${name} goes at a log-out by hand in another tab`,
    only('draft'),
    async ({ page, stub }) => {
      const other = await begin(page, stub, place);
      await follow(
        other.getByRole('banner').getByRole('link', { name: 'My Account' }),
        '**/account',
      );
      await other.getByRole('button', { name: 'Logout' }).click();
      await expectToBeGuest(page, place);
      if (isPublic) await expect(field(page)).toHaveValue('');
      expect(await kept(page)).not.toContain('worst');
      await signInAs(page, stub, mineLater);
      await reopen(page, place);
      await expect(field(page)).toHaveValue('');
    },
  );
}
