import type { Page } from 'playwright/test';
import { brand } from '../../worker/contract/brand.ts';
import { helpLines } from '../../worker/contract/help-lines.ts';
import { languages, published } from '../../worker/contract/languages.ts';
import { pages } from '../../web/app/page-heads.ts';
import { pseudoLanguage } from '../../web/build/words/pseudo-language.ts';
import { countryNames, languageNames, months } from '#words/intl';
import { everyKind, pageOf } from './support/chat.ts';
import {
  expectToBeAccessible,
  expectToFit,
  follow,
  hydrated,
  open,
  ownTexts,
  settle,
  violations,
} from './support/page.ts';
import { expect, fullUnless, isFull, stubbed as test } from './support/test.ts';
import { withdrawalLabels } from '../../web/words/withdrawal-labels.ts';
import { holdAssets, watchMoves } from './support/first-paint.ts';

/** Every part of the account: a trial with a scheduled plan, and a number in its own direction. */
const person = {
  tier: 'premium',
  subscriptionStatus: 'trialing',
  isTrial: true,
  renewalDate: '2025-09-24T09:00:00.000Z',
  scheduled: 'platinum',
  used: 3,
};

const publicPaths = Object.keys(pages).filter((path) => pages[path]!.isPublic);
const privatePaths = Object.keys(pages).filter((path) => !pages[path]!.isPublic);
/** `/pending-approval` leads a member to the account, and `/order` without a plan to the plans; public pages are there if they differ for a member. */
const memberPaths = [
  ...privatePaths.filter((path) => path !== '/pending-approval' && path !== '/order'),
  '/order?plan=basic',
  '/',
  '/plans',
  '/cancel',
  '/withdraw',
  '/nope',
];

/** The tests of payments and of the public pages look at the others. */
const withAxe = [
  '/account',
  '/chat',
  '/payment-canceled',
  '/activate-trial',
  '/cancel',
  '/withdraw',
];
const trialEnd: Record<string, string> = {
  en: 'September 24, 2025',
  es: '24 de septiembre de 2025',
  'pt-BR': '24 de setembro de 2025',
};

const { en: labels } = withdrawalLabels;
const names = [
  brand.company,
  brand.companyAddress,
  brand.name,
  brand.companion,
  brand.messagingApp,
  brand.supportEmail,
  ...Object.values(labels),
];
const ofLines = Object.values(helpLines).flatMap(({ lines }) =>
  lines.flatMap(({ text }) => text?.word ?? []),
);
const ofSite = [
  ...names,
  ...ofLines,
  ...months,
  ...Object.values(countryNames),
  ...Object.values(languageNames),
];
/** What stays English in the pseudo-language; the longest first: "Japanese" before "Japan". */
const known = ofSite.toSorted((one, other) => other.length - one.length);

/** The texts of a page that are plain English without names and addresses. */
async function plainTexts(page: Page): Promise<string[]> {
  const withoutNames = (text: string) =>
    known.reduce(
      (rest, name) => rest.replaceAll(name, ''),
      text.replaceAll(/[\w@-]+(?:\.[a-z]+)+/g, ''),
    );
  const texts = await ownTexts(page);
  return texts.filter((text) => /(?<!\p{L})[a-zA-Z]{3,}(?!\p{L})/u.test(withoutNames(text)));
}

const offered = languages.filter(({ tag }) => published.includes(tag));

for (const { tag, path: start } of [...offered, pseudoLanguage])
  for (const [visitor, paths] of Object.entries({
    'a guest': publicPaths,
    'a member': memberPaths,
  }))
    test(
      `${tag}: every page of ${visitor} fits a screen of 320 pixels`,
      // The pseudo-language has the longest words, and shows each text that is not translated.
      fullUnless(tag === pseudoLanguage.tag && visitor === 'a guest'),
      async ({ page, stub, expectedErrors }) => {
        expectedErrors.push(/status of 4\d\d/);
        if (visitor === 'a member') await stub.signedIn(person);
        const isPseudo = tag === pseudoLanguage.tag;
        const messages = everyKind.map((message, index) => ({
          ...message,
          ...(isPseudo && { text: String(index) }),
        }));
        stub.respond('getChat', pageOf(messages));
        await page.setViewportSize({ width: 320, height: 800 });
        for (const path of paths) {
          await open(page, start + path);
          await settle(page);
          await expect(page.locator('html')).toHaveAttribute('lang', tag);
          await expectToFit(page, 320);
          if (path === '/account' && !isPseudo)
            await expect(page.getByText(trialEnd[tag]!)).toBeVisible();
          if (isPseudo) expect(await plainTexts(page), `English on ${path}`).toEqual([]);
          if (tag === 'en' && withAxe.includes(path)) await expectToBeAccessible(page);
        }
      },
    );

test(
  'the pseudo-language turns pages, dialogs and choices from right to left, numbers not',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stub.signedIn(person);
    await open(page, `${pseudoLanguage.path}/`);
    await expect(page.locator('html')).toHaveAttribute('dir', 'rtl');
    const carousel = page.getByRole('region').filter({ has: page.getByRole('status') });
    const [back, next] = [
      carousel.getByRole('button').first(),
      carousel.getByRole('button').last(),
    ];
    await next.scrollIntoViewIfNeeded();
    expect((await next.boundingBox())!.x).toBeLessThan((await back.boundingBox())!.x);
    const icon = next.locator('svg');
    await expect(icon).toHaveCSS('transform', 'matrix(-1, 0, 0, 1, 0, 0)');
    for (const [button, position] of [
      [next, 1],
      [back, 0],
    ] as const) {
      await button.click();
      await expect(carousel.getByRole('listitem').nth(position)).toBeInViewport({ ratio: 0.9 });
    }

    await open(page, `${pseudoLanguage.path}/account`);
    await expect(page.getByText('+1 555-123-4567')).toHaveCSS('unicode-bidi', 'plaintext');
    await expect(page.getByText(brand.businessPhone)).toHaveCSS('unicode-bidi', 'isolate');
    await expect(page.getByRole('radiogroup')).toHaveAttribute('dir', 'rtl');
    await page.getByRole('main').getByRole('button').last().click();
    await expect(page.getByRole('alertdialog')).toHaveCSS('direction', 'rtl');
  },
);

/** A browser, the page that it opens, and the one language that is offered to it. */
const visits = [
  ['en-US', '/es/plans', 'English', '/plans'],
  ['es-MX', '/plans', 'Español', '/es/plans'],
  ['pt-PT', '/plans', 'Português', '/pt-br/plans'],
  ['es-AR', '/pt-br/', 'Español', '/es/'],
] as const;

const offers = (page: Page) => page.getByRole('complementary').getByRole('link');

for (const [locale, path, name, target] of visits)
  test.describe(`a browser in ${locale}`, () => {
    test.use({ locale });

    test(
      `${path} offers ${name} alone, without a shift, and leads to the same page`,
      fullUnless(locale === 'es-MX'),
      async ({ page }) => {
        const release = await holdAssets(page);
        await page.goto(`${path}?plan=basic`, { waitUntil: 'commit' });
        const moves = await watchMoves(page);
        await expect(offers(page)).toHaveText([name]);
        release();
        await hydrated(page);
        expect(await moves()).toEqual([]);
        await page.unrouteAll();
        await follow(offers(page), `${target}?plan=basic`);
        await expect(offers(page)).toHaveCount(0);
        await page.goto(path);
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
        await expect(offers(page)).toHaveCount(0);
      },
    );
  });

test.describe('the offer', () => {
  test.use({ locale: 'es-ES' });

  test(
    'follows a change of the page, fits a narrow screen, stays off paper, and goes at a click',
    { tag: '@full' },
    async ({ page }) => {
      await open(page, '/');
      await page
        .getByRole('navigation', { name: 'Footer' })
        .getByRole('link', { name: 'Plans' })
        .click();
      await expect(offers(page)).toHaveAttribute('href', '/es/plans');
      await expectToFit(page, 320);
      expect(await violations(page)).toEqual([]);
      await page.emulateMedia({ media: 'print' });
      await expect(offers(page)).toHaveCount(0);
      await page.emulateMedia({ media: 'screen' });
      await expect(offers(page)).toHaveCount(1);

      // A click works before the scripts have loaded, and leaves the language as it is.
      const release = await holdAssets(page);
      await page.goto('/', { waitUntil: 'commit' });
      await page.getByRole('complementary').getByRole('button', { name: 'Cerrar' }).click();
      await expect(offers(page)).toHaveCount(0);
      release();
      await hydrated(page);
      await open(page, '/');
      expect(new URL(page.url()).pathname).toBe('/');
      await expect(offers(page)).toHaveCount(0);
    },
  );
});

test('letters of 200 % fit a screen of 320 pixels', { tag: '@full' }, async ({ page, stub }) => {
  const browser = await page.context().newCDPSession(page);
  await browser.send('Page.setFontSizes', { fontSizes: { standard: 32 } });
  const fit = async (paths: string[]) => {
    for (const path of paths) {
      await open(page, path);
      await settle(page);
      await expectToFit(page, 320);
      // The line of the languages moves it down.
      const skip = await page.locator('a[href="#main"]').boundingBox();
      expect(skip!.y + skip!.height, `the hidden link of ${path}`).toBeLessThanOrEqual(0);
    }
  };
  // English readers are offered their language in a line above these.
  await fit(['/login', '/terms', '/pt-br/', '/pt-br/plans', '/pt-br/help-now', '/pt-br/withdraw']);
  await stub.signedIn(person);
  stub.respond('getChat', pageOf(everyKind));
  await fit(['/account', '/pt-br/account', '/pt-br/chat', '/pt-br/cancel']);
});

test('the home page alone opens in the language of the last click in the footer', async ({
  page,
}) => {
  const clicks = [
    ['/es/', 'Português', '/pt-br/'],
    ['/', 'Español', '/es/'],
  ] as const;
  for (const [start, name, target] of isFull ? clicks : clicks.slice(0, 1)) {
    await open(page, start);
    await follow(
      page.getByRole('contentinfo').getByRole('link', {
        name,
        exact: true,
      }),
      target,
    );
    await page.goto('/?from=chat#plans');
    await page.waitForURL(`${target}?from=chat#plans`);
  }
  await page.goto('/plans');
  await expect(page.locator('html')).toHaveAttribute('lang', 'en');
});
