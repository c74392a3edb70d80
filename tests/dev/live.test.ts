import { networkInterfaces } from 'node:os';
import type { Browser } from 'playwright';
import { expect as within } from 'playwright/test';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAlive, cloneTree, processesOf, runProduct, surprises } from './live-clone.ts';
import { kinds, measureEdit, textOf, type Site } from './edits.ts';
import { fullUnless } from '../long-tours.ts';
import { openBrowser, openSite } from './open-site.ts';

/** Only a failure takes this long. */
const expectPage = within.configure({ timeout: 60_000 });
const clone = cloneTree();
let product: Awaited<ReturnType<typeof runProduct>>;
let browser: Browser;
let site: Site;

beforeAll(async () => {
  product = await runProduct(clone);
  await product.ready();
  browser = await openBrowser();
  site = await openSite(browser, product);
  await site.login.evaluate(() => (document.documentElement.dataset['kept'] = 'yes'));
});

afterAll(async () => {
  await browser?.close();
  await product?.interrupt();
  clone.remove();
});

/** `npm test` takes the network away where the system allows it. */
const hasNetwork = Object.keys(networkInterfaces()).some((name) => name !== 'lo');

it.skipIf(hasNetwork)('it has started without a network, and says nothing of that', () => {
  expect(surprises(product)).toEqual([]);
});

/** A page, its styles and words, and the Worker; the others take the same ways. */
const chosenKinds = new Set([
  'component with a half-typed form',
  'token',
  'word in Spanish',
  'Worker response',
]);

for (const kind of kinds)
  it(
    `an edit is seen without a restart: ${kind.name}`,
    fullUnless(chosenKinds.has(kind.name)),
    async () => {
      await measureEdit(clone, kind, site, 1);
      clone.edit(kind.file, kind.to(1), kind.from);
      await kind.see(site, 0);
    },
  );

it('edits of page, styles and words keep the page and what was typed', async () => {
  await expectPage(site.login.locator('html[data-kept=yes]')).toHaveCount(1);
  await expectPage(site.login.locator('#phone')).toHaveValue('+1 555');
});

it('a module reads its own exports, not those of a later edit', async () => {
  const path = '/pages/login/phone-step.tsx';
  const module = await textOf(product.siteUrl + path);
  expect(module).toContain('registerExportsForReactRefresh');
  expect(module).not.toContain(`from "${path}`);
});

it('an edit of a component is seen, however soon others follow', { tags: 'full' }, async () => {
  const [component, word] = kinds.filter(({ name }) => /^(component|word) /.test(name));
  for (let round = 0; round < 20; round++)
    for (const { file, from, to, see } of [component!, word!]) {
      clone.edit(file, from, to(1));
      await see(site, 1);
      clone.edit(file, to(1), from);
      await see(site, 0);
    }
});

describe('a mistake shows in the page with its file, and goes when it is mended', () => {
  const mistakes = [
    ['worker/endpoints/service.ts', 'export const health', 'export const = health'],
    ['web/pages/login/login-page.tsx', '<section', '<section <'],
    ['web/theme/tokens.ts', 'fonts: {', 'fonts: {{'],
    ['web/words/en/login.json', '"lead":', '"lead"'],
  ] as const;

  for (const [file, right, wrong] of mistakes)
    it(
      `in ${file}`,
      fullUnless(!file.startsWith('web/theme') && !file.startsWith('web/words')),
      async () => {
        const from = product.lines.length;
        const overlay = site.login.locator('vite-error-overlay');
        const place = file.replace('web/theme', 'theme');
        clone.edit(file, right, wrong);
        await expectPage(overlay).toContainText(place);
        await product.said(new RegExp(place.replaceAll('.', '\\.')), from);
        clone.edit(file, wrong, right);
        await expectPage(overlay).toHaveCount(0);
        await expectPage(site.login.locator('#phone')).toHaveValue('+1 555');
        await expectPage.poll(() => textOf(`${product.siteUrl}/api/health`)).toContain('"ok"');
      },
    );
});

it(
  'an edit keeps the open dialog, the place on the page, and the stream',
  { tags: 'full' },
  async () => {
    const file = 'web/pages/account/account-management-card.tsx';
    const [from, to] = [
      'className={button({ wide: true })}',
      'data-edit className={button({ wide: true })}',
    ];
    const page = await browser.newPage({
      viewport: {
        width: 390,
        height: 500,
      },
    });
    await page.addInitScript((token) => localStorage.setItem('authToken', token), site.token);
    // A font that came too late for the first paint is shown with the next styles, and lines break elsewhere.
    await page.route(/\.woff2/, (route) => route.abort());
    const streams: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/usage-stream')) streams.push(request.url());
    });
    await page.goto(`${product.siteUrl}/account`);
    const main = page.getByRole('main');
    // Below an open dialog the browser does not follow what still grows.
    await expectPage(page.getByText('Live', { exact: true })).toBeVisible();
    await expectPage(main.getByRole('radiogroup')).toBeVisible();
    await main.getByRole('button', { name: 'Delete Account' }).click();
    const dialog = page.getByRole('alertdialog');
    await expectPage(dialog).toBeVisible();
    const { length: opened } = streams;
    expect(await page.evaluate(() => scrollY)).toBeGreaterThan(0);
    const card = main.locator('section[aria-labelledby="management"]');
    const place = () => card.evaluate((element) => Math.round(element.getBoundingClientRect().top));
    const before = await place();

    clone.edit(file, from, to);
    await expectPage(page.locator('button[data-edit]')).toHaveCount(1);
    await expectPage(dialog).toBeVisible();
    expect(await place()).toBe(before);
    expect(streams).toHaveLength(opened);
    clone.edit(file, to, from);
    await page.close();
  },
);

describe('settings', { tags: 'full' }, () => {
  const me = () =>
    textOf(`${product.siteUrl}/api/user/me`, {
      headers: { authorization: `Bearer ${site.token}` },
    });

  type Edit = [what: string, file: string, before: string, after: string];
  const edits: Edit[] = [
    ['an edit of .dev.vars', '.dev.vars', 'CODE_PEPPER=', 'APPROVAL=manual\nCODE_PEPPER='],
    ['an edit of wrangler.toml', 'wrangler.toml', 'limit = 600', 'limit = 601'],
    ['a second one', 'wrangler.toml', 'limit = 601', 'limit = 602'],
  ];

  it.each(edits)('%s starts the Worker again, and nothing else', async (_, file, before, after) => {
    const from = product.lines.length;
    clone.edit(file, before, after);
    await product.said(
      /^(wrangler\.toml|\.dev\.vars) has changed: the Worker has started again\.$/,
      from,
    );
    await expectPage.poll(me).toContain('"success":true');
    await expectPage(site.login.locator('html[data-kept=yes]')).toHaveCount(1);
  });

  type Mistake = [what: string, file: string, spoil: (text: string) => string, said: RegExp];
  const mistakes: Mistake[] = [
    [
      'a malformed setting',
      '.dev.vars',
      (text) => text.replace(/^SESSION_KEYS=.*$/m, 'SESSION_KEYS=short'),
      /\.dev\.vars is .*: \.dev\.vars cannot be used: SESSION_KEYS is malformed\. Write /,
    ],
    [
      'a flag that nobody knows',
      'wrangler.toml',
      (text) => text.replace(/^compatibility_flags = \[/m, '$&"no_such_flag", '),
      /wrangler\.toml is/,
    ],
    ['a mistake', 'wrangler.toml', (text) => text.replace('[', '[[ '), /wrangler\.toml is/],
    [
      'a setting that is lost',
      '.dev.vars',
      (text) => text.replace(/^STRIPE_SECRET_KEY=.*$/m, ''),
      /\.dev\.vars is .*: \.dev\.vars lacks STRIPE_SECRET_KEY: put it back, or stop and start/,
    ],
  ];

  it.each(mistakes)(
    '%s in %s leaves the Worker as it was, until it is mended',
    async (_, file, spoil, said) => {
      const right = clone.read(file);
      const from = product.lines.length;
      clone.write(file, spoil(right));
      await product.said(new RegExp(`^The Worker runs as before, until ${said.source}`), from);
      expect(await me()).toContain('"success":true');
      clone.write(file, right);
      await product.said(/has changed: the Worker has started again\.$/, from);
      await expectPage.poll(me).toContain('"success":true');
    },
  );
});

it('a second one in the same folder names the first', async () => {
  const second = await runProduct(clone);
  await second.ended;
  expect(second.lines.at(-1)).toBe(
    `Solace already runs in this folder, on ${product.siteUrl}: use that one, or stop it first.`,
  );
});

async function endsAll(run: typeof product, signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
  const processes = processesOf(run.pid);
  expect(processes.length).toBeGreaterThan(4);
  // npm's shell, whose end the command notices, too.
  process.kill(signal === 'SIGINT' ? -run.pid : processes[2]!, signal);
  await expectPage.poll(() => processes.filter(isAlive)).toEqual([]);
}

it('no process outlives its end by SIGINT', () => endsAll(product, 'SIGINT'));

it('no process outlives its end by SIGKILL', { tags: 'full' }, async () => {
  await product.interrupt();
  const run = await runProduct(clone);
  await run.ready();
  await endsAll(run, 'SIGKILL');
});
