import type { Page } from 'playwright/test';
import { pageHead } from '../../web/app/page-heads.ts';
import {
  expectToasts,
  expectToBeAccessible,
  expectToFit,
  follow,
  hydrated,
  installClock,
  open,
  returnToTab,
  setVisible,
  settle,
  stopTime,
  storedToken,
  takeToasts,
} from './support/page.ts';
import { chat as chatPage, openConversation } from './support/chat.ts';
import { expect, isFull, stubbed as test } from './support/test.ts';
import { holdAssets, openServedFirst } from './support/first-paint.ts';

type Who = 'visitor' | 'member' | 'pending';
type Row = [heading: string | RegExp, sent?: Partial<Record<Who, string>>, marked?: string];

const members = { visitor: '/login', pending: '/pending-approval' };

/**
 * The heading of each page, where those without access are sent, and the link of the header that is marked.
 * `prerender.test.ts` has the other public pages, and `languages.test.ts` opens the private ones as a member.
 */
const rows: Record<string, Row> = {
  '/': [/Your AI Companion for Psychological Well-Being$/, {}, 'Home'],
  '/login': ['Log in to Solace', { member: '/account', pending: '/pending-approval' }, 'Login'],
  '/plans': ['Choose Your Plan'],
  '/account': ['My Account', members, 'My Account'],
  '/pending-approval': ['Account Pending Approval', { visitor: '/login', member: '/account' }],
  '/cancel': ['Cancel subscription', members],
  '/order?plan=basic': ['Review your order', members],
  '/payment-success': ['Payment Successful!'],
  '/payment-canceled': ['Payment Not Completed'],
  '/auth/stripe-success': ['Processing...'],
  '/payment-details-saved': ['Verifying payment setup...'],
  '/activate-trial': ['Activation Failed'],
};

for (const who of ['visitor', 'member', 'pending'] as const)
  test(
    `every route shows its page to a ${who} or redirects, and the header marks it`,
    { tag: '@full' },
    async ({ page, stub }) => {
      await stopTime(page);
      if (who !== 'visitor')
        await stub.signedIn({ status: who === 'pending' ? 'pending' : 'approved' });
      // The others are the same for everybody.
      const paths = Object.keys(rows).filter((path) => who === 'visitor' || rows[path]![1]);
      for (const path of paths) {
        const shown = rows[path]![1]?.[who] ?? path;
        const [heading, , marked] = rows[shown]!;
        await open(page, path);
        await expect(page.getByRole('heading', { level: 1 }), `${who} ${path}`).toHaveText(heading);
        const ofState = await page.locator('[data-result]').count();
        const title = ofState ? `${heading} | Solace` : pageHead(shown.replace(/\?.*/, '')).title;
        await expect(page).toHaveTitle(title);
        expect(new URL(page.url()).pathname).toBe(shown.replace(/\?.*/, ''));
        // Elsewhere, a pending user is treated as signed in.
        if (who === 'pending') continue;
        const [name, href] = who === 'member' ? ['My Account', '/account'] : ['Login', '/login'];
        const links = bar(page).getByRole('navigation').getByRole('link');
        await expect(links).toHaveText(['Home', name]);
        await expect(links.nth(0)).toHaveAttribute('href', '/');
        await expect(links.nth(1)).toHaveAttribute('href', href);
        await expect(bar(page).getByRole('link', { name: 'Solace, home' })).toHaveAttribute(
          'href',
          '/',
        );
        await expect(bar(page).locator('nav [aria-current=page]')).toHaveText(
          marked ? [marked] : [],
        );
      }
    },
  );

const bar = (page: Page) => page.getByRole('banner');

test('the colours are changed by a button and stored, and the active link looks different', async ({
  page,
}) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await open(page, '/plans');
  const paper = () =>
    page.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor);
  const dark = await paper();
  await page.getByRole('button', { name: 'Switch to light colours' }).click();
  await expect.poll(paper).not.toBe(dark);
  await open(page, '/');
  await expect(page.getByRole('button', { name: 'Switch to dark colours' })).toBeVisible();
  expect(await paper()).not.toBe(dark);
  const colour = (name: string) =>
    bar(page)
      .getByRole('link', { name, exact: true })
      .evaluate((link) => getComputedStyle(link).backgroundColor);
  expect(await colour('Home')).not.toBe(await colour('Login'));
});

test('a pending user sees the pending page, can withdraw consent and log out', async ({
  page,
  stub,
}) => {
  await stub.signedIn({ status: 'pending' });
  await open(page, '/pending-approval');
  const main = page.getByRole('main');
  await expect(main).toContainText('The account for +1 555-123-4567 awaits approval.');
  await expect(main).toContainText(
    'You will be notified through your preferred messaging platform',
  );
  await expectToFit(page, 320);
  await expectToBeAccessible(page);
  const withdraw = async (button: string) => {
    await main.getByRole('button', { name: 'Withdraw consent' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Withdraw your consent?' });
    await expect(dialog).toContainText('This deletes your conversation with Solace on this site.');
    await dialog.getByRole('button', { name: button }).click();
    await expect(dialog).toHaveCount(0);
  };
  await withdraw('Cancel');
  expect(stub.calls('deleteChatConsent')).toEqual([]);
  stub.respond(
    'deleteChatConsent',
    { success: false, code: 'unavailable', message: 'Service unavailable' },
    503,
  );
  await withdraw('Withdraw consent');
  await takeToasts(page, ['Server error. Please try again later.']);
  stub.respond('deleteChatConsent', { success: true, consent: null });
  await withdraw('Withdraw consent');
  await expect(page.getByText('Consent withdrawn')).toBeVisible();
  expect(stub.calls('deleteChatConsent')).toHaveLength(2);

  await follow(main.getByRole('button', { name: 'Logout' }), (url) => url.pathname === '/');
  await expectToasts(page, ['Consent withdrawn'], ['Logged out successfully']);
  expect(await storedToken(page)).toBeNull();
});

test('a return to the tab leads to the account once it is approved; a refusal leads back', async ({
  page,
  stub,
}) => {
  await stub.signedIn({ status: 'pending' });
  await open(page, '/pending-approval');
  await expect(page.getByRole('heading', { name: 'Account Pending Approval' })).toBeVisible();
  await settle(page);
  expect(stub.calls('streamTicket'), 'a stream opens').toEqual([]);
  stub.person({ status: 'approved' });
  await returnToTab(page);
  await page.waitForURL('**/account');
  stub.person({ status: 'pending' });
  const refused = {
    success: false,
    code: 'pending_approval',
    message: 'Your account is awaiting approval.',
  };
  stub.respond('createPortalSession', refused, 403);
  await follow(page.getByRole('button', { name: 'Billing Management' }), '**/pending-approval');
  await expectToasts(page);
});

test('somebody who waits for approval is let in without a return to the tab', async ({
  page,
  stub,
}) => {
  await installClock(page);
  await stub.signedIn({ status: 'pending' });
  await open(page, '/pending-approval');
  await expect(page.getByRole('heading', { name: 'Account Pending Approval' })).toBeVisible();
  await settle(page);
  const before = stub.calls('getMe').length;
  await setVisible(page, false);
  await page.clock.runFor(60_000);
  await settle(page);
  expect(stub.calls('getMe').length - before, 'nobody looks').toBe(0);
  await setVisible(page, true);
  await settle(page);
  stub.person({ status: 'approved' });
  await page.clock.runFor(30_000);
  await page.waitForURL('**/account', { timeout: 20_000 });
});

type Reported = {
  message: string;
  filename?: string;
  thrown?: string;
};

/** Reports an uncaught error as the browser does. */
async function reportUncaught(page: Page, reported: Reported): Promise<void> {
  await page.evaluate(({ message, filename = '', thrown }) => {
    const file = filename.replace('ORIGIN', location.origin);
    const error = thrown === undefined ? undefined : new Error(thrown);
    dispatchEvent(
      new ErrorEvent('error', {
        message,
        filename: file,
        error,
      }),
    );
  }, reported);
}

const foreignErrors: Reported[] = [
  { message: 'Script error.' },
  { message: 'ResizeObserver loop completed with undelivered notifications.' },
  { message: "Can't find variable: _AutofillCallbackHandler", thrown: '_AutofillCallbackHandler' },
  {
    message: 'Uncaught Error: x',
    filename: 'chrome-extension://abc/content.js',
    thrown: 'x',
  },
  {
    message: 'Error: x',
    filename: 'safari-web-extension://abc/assets/a.js',
    thrown: 'x',
  },
  {
    message: 'Error: x',
    filename: 'webkit-masked-url://hidden/',
    thrown: 'x',
  },
  { message: 'Error: x', filename: 'ORIGIN/chat', thrown: 'x' },
  {
    message: 'Error: x',
    filename: 'https://elsewhere.example/assets/a.js',
    thrown: 'x',
  },
];

test("errors of others' scripts take nothing away", { tag: '@full' }, async ({ page, stub }) => {
  await openConversation(page, stub, []);
  await chatPage.field(page).fill('A draft');
  for (const reported of foreignErrors) await reportUncaught(page, reported);
  await settle(page);
  await expect(chatPage.field(page)).toHaveValue('A draft');
  await expect(page.getByText('Something went wrong')).toHaveCount(0);
});

test('no error takes the crisis lines away', async ({ page }) => {
  await page.goto('/help-now');
  await hydrated(page);
  const own = {
    message: 'Error: x',
    filename: 'ORIGIN/assets/main.js',
    thrown: 'x',
  };
  for (const reported of [...foreignErrors, own]) await reportUncaught(page, reported);
  await settle(page);
  await page.getByRole('combobox', { name: 'Country' }).selectOption('Germany');
  await expect(page.getByRole('heading', { name: 'Germany' })).toBeVisible();
  await expect(page.getByText('Something went wrong')).toHaveCount(0);
});

test('an uncaught error shows the crash screen until a reload', async ({ page, stub }) => {
  const own = { filename: 'ORIGIN/assets/main.js' };
  await stub.signedIn();
  await open(page, '/plans');
  await expect(page.getByRole('heading', { name: 'Choose Your Plan' })).toBeVisible();
  await reportUncaught(page, {
    ...own,
    message: 'Uncaught Error',
    thrown: 'The sky fell.',
  });
  await expect(page.getByRole('heading', { name: 'Something went wrong' })).toBeVisible();
  await expect(page.getByRole('alert').getByText('The sky fell.')).toBeVisible();
  await expect(page.getByRole('banner')).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'Get help now' })).toHaveAttribute(
    'href',
    '/help-now',
  );
  await page.getByRole('button', { name: 'Refresh Page' }).click();
  await expect(page.getByRole('heading', { name: 'Choose Your Plan' })).toBeVisible();
  await hydrated(page);
  await reportUncaught(page, { ...own, message: 'Only words.' });
  await expect(page.getByRole('alert').getByText(/Only words\./)).toBeVisible();
});

const chat = 'https://wa.me/15550100199';

test('the home page says what the product is and who is behind it', async ({ page }) => {
  await open(page, '/');
  const main = page.getByRole('main');
  for (const title of ['Why Solace?', 'What Our Users Say', 'Flexible Plans to Fit Your Needs'])
    await expect(
      main.getByRole('heading', {
        level: 2,
        name: title,
      }),
    ).toBeVisible();
  for (const title of [
    'Text & Voice Support',
    'Privacy First',
    'CBT-Based Approach',
    'Always Available',
  ])
    await expect(
      main.getByRole('heading', {
        level: 3,
        name: title,
      }),
    ).toBeVisible();
  for (const claim of [
    /no app download/i,
    /fully encrypted/i,
    /cognitive behavioural therapy/,
    /24 hours a day/,
  ])
    await expect(main.getByText(claim).first()).toBeVisible();
  const tryIt = main.getByRole('link', { name: 'Try Solace on WhatsApp (Free)' });
  await expect(tryIt).toHaveAttribute('href', chat);
  await expect(tryIt).toHaveAttribute('rel', /noopener/);
  await expect(main.getByRole('link', { name: 'Choose Your Plan' })).toHaveAttribute(
    'href',
    '/plans',
  );

  const footer = page.getByRole('contentinfo');
  await expect(footer.getByRole('link', { name: 'Contact Us' })).toHaveAttribute(
    'href',
    '/contact',
  );
  await expect(footer.getByText(/^© 2025 Solace Wellness, Inc\./)).toBeVisible();
  await expect(footer.getByText(/well-being and self-help/)).toBeVisible();
  await expect(footer.getByRole('link', { name: /\+1 \(555\) 010-0199/ })).toHaveAttribute(
    'href',
    'tel:+15550100199',
  );

  const carousel = page.getByRole('region', { name: 'What Our Users Say' });
  const next = carousel.getByRole('button', { name: 'Next story' });
  await expect(carousel.getByRole('listitem')).toHaveCount(3);
  await next.scrollIntoViewIfNeeded();
  for (const position of [1, 2, 3]) {
    await expect(carousel.getByRole('status')).toHaveText(`Story ${position} of 3`);
    await expect(carousel.getByRole('listitem').nth(position - 1)).toBeInViewport({ ratio: 0.9 });
    if (position < 3) await next.click();
  }
  await expect(next).toBeDisabled();
  await expect(teaser(page).getByRole('link')).toHaveText(Array(4).fill('Get Started'));
  await follow(teaser(page).getByRole('link').nth(2), '**/login');
});

test('a link stays under the finger of who has scrolled to it before the app starts, and a reload stays there', async ({
  page,
  expectedErrors,
}) => {
  const start = await holdAssets(page);
  // Text has other heights in a font that comes in time for the reload alone.
  await page.route('**/*.woff2', (route) => route.abort());
  expectedErrors.push(/net::ERR_FAILED/);
  await page.goto('/', { waitUntil: 'commit' });
  const link = page.getByRole('link', { name: 'Withdraw from contract' });
  // Sections are laid out as they come near, so the page still moves in the frame after.
  await link.scrollIntoViewIfNeeded();
  await link.hover();
  await page.mouse.down();
  start();
  await hydrated(page);
  await page.mouse.up();
  const title = page.getByRole('heading', { level: 1 });
  await expect(title).toHaveText('Withdraw from contract');

  await page.goBack();
  // The footer of the page that is left has this link, too.
  await expect(title).toContainText('Your AI Companion');
  await expect(link).toBeInViewport();
  const scrolled = () => page.evaluate(() => scrollY);
  // A page that has shrunk would be at its end in any case.
  await page.evaluate(() => scrollBy({ top: -120, behavior: 'instant' }));
  const place = await scrolled();
  await page.reload();
  await hydrated(page);
  expect(await scrolled()).toBe(place);
});

test(
  'the story that somebody has swiped to before the app starts is the one that is told',
  { tag: '@full' },
  async ({ page }) => {
    const start = await holdAssets(page);
    await page.goto('/', { waitUntil: 'commit' });
    const carousel = page.getByRole('region', { name: 'What Our Users Say' });
    const second = carousel.getByRole('listitem').nth(1);
    await second.evaluate((story) => story.scrollIntoView({ behavior: 'instant' }));
    await expect(second).toBeInViewport({ ratio: 0.9 });
    start();
    await expect(carousel.getByRole('status')).toHaveText('Story 2 of 3');
    await carousel.getByRole('button', { name: 'Next story' }).click();
    await expect(carousel.getByRole('status')).toHaveText('Story 3 of 3');
  },
);

const teaser = (page: Page) =>
  page.getByRole('region', { name: 'Flexible Plans' }).getByRole('listitem');

test('nothing moves for a member, and the plans lead nowhere until the member is known', async ({
  page,
  stub,
}) => {
  await stub.signedIn();
  for (const width of isFull ? [412, 1280] : [1280]) {
    await page.setViewportSize({ width, height: 900 });
    const release = stub.hold('getMe');
    const moves = await openServedFirst(page, '/');
    const buttons = teaser(page).getByRole('link');
    await buttons.first().click();
    const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link');
    await expect(links).toHaveText(['Home', /My Account$/]);
    await expect(page.getByText('Loading application...')).toBeVisible();
    release();
    await expect(buttons).toHaveText(Array(4).fill('Manage Plan'));
    await expect(page.getByText('Loading application...')).toBeHidden();
    expect(new URL(page.url()).pathname).toBe('/');
    expect(await moves(), `${width} px`).toEqual([]);
    await follow(buttons.nth(2), '**/account');
  }
});

/** The colour of the browser's bar: that of the first tag whose media hold. */
const barColour = (page: Page) =>
  page.evaluate(() => {
    const tags = [...document.querySelectorAll<HTMLMetaElement>('meta[name=theme-color]')];
    return tags.find(({ media }) => !media || matchMedia(media).matches)?.content;
  });

const schemes = ['light', 'dark'] as const;

test(
  'the browser’s bar has the colour of the chosen theme, also before the app has loaded',
  { tag: '@full' },
  async ({ page, expectedErrors }) => {
    expectedErrors.push(/status of 404/);
    const colours: Record<string, string | undefined> = {};
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme });
      await open(page, '/');
      colours[colorScheme] = await barColour(page);
    }
    expect(colours['light']).not.toBe(colours['dark']);
    for (const colorScheme of schemes) {
      const chosen = schemes.find((one) => one !== colorScheme)!;
      await page.emulateMedia({ colorScheme });
      await open(page, '/');
      await page.getByRole('button', { name: `Switch to ${chosen} colours` }).click();
      expect(await barColour(page)).toBe(colours[chosen]);
      await follow(page.getByRole('contentinfo').getByRole('link', { name: 'Plans' }), '**/plans');
      expect(await barColour(page)).toBe(colours[chosen]);
      const release = await holdAssets(page);
      for (const path of ['/', '/es/help-now', '/login', '/chat', '/nowhere']) {
        await page.goto(path, { waitUntil: 'commit' });
        // A guest of `/chat` is sent on meanwhile.
        const hasColour = async () => expect(await barColour(page), path).toBe(colours[chosen]);
        await expect(hasColour).toPass();
      }
      release();
      await hydrated(page);
      await page.evaluate(() => localStorage.clear());
    }
  },
);
