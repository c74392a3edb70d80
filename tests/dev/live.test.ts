import type { Browser } from 'playwright';
import { expect as within } from 'playwright/test';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAlive, cloneTree, processesOf, runProduct } from './live-clone.ts';
import { kinds, measureEdit, textOf, type Site } from './edits.ts';
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

it.each(kinds)('an edit is seen without a restart: $name', async (kind) => {
  await measureEdit(clone, kind, site, 1);
  clone.edit(kind.file, kind.to(1), kind.from);
  await kind.see(site, 0);
});

it('edits of page, styles and words keep the page and what was typed', async () => {
  await expectPage(site.login.locator('html[data-kept=yes]')).toHaveCount(1);
  await expectPage(site.login.locator('#phone')).toHaveValue('+1 555');
});

describe('a mistake shows in the page with its file, and goes when it is mended', () => {
  const mistakes = [
    ['worker/endpoints/service.ts', 'export const health', 'export const = health'],
    ['web/pages/login/login-page.tsx', '<section', '<section <'],
    ['web/theme/tokens.ts', 'fonts: {', 'fonts: {{'],
    ['web/words/en/login.json', '"lead":', '"lead"'],
  ] as const;

  it.each(mistakes)('in %s', async (file, right, wrong) => {
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
  });
});

it('an edit of wrangler.toml starts the Worker again, and nothing else', async () => {
  const me = () =>
    textOf(`${product.siteUrl}/api/user/me`, {
      headers: { authorization: `Bearer ${site.token}` },
    });
  clone.edit('wrangler.toml', 'limit = 600', 'limit = 601');
  await product.said(/^wrangler\.toml has changed: the Worker starts again\.$/);
  await expectPage.poll(me).toContain('"success":true');
  await expectPage(site.login.locator('html[data-kept=yes]')).toHaveCount(1);
});

it('a second one in the same folder names the first', async () => {
  const second = await runProduct(clone);
  await second.ended;
  expect(second.lines.at(-1)).toBe(
    `Solace already runs in this folder, on ${product.siteUrl}: use that one, or stop it first.`,
  );
});

it.each(['SIGINT', 'SIGKILL'] as const)('no process outlives its end by %s', async (signal) => {
  const run = signal === 'SIGINT' ? product : await runProduct(clone);
  await run.ready();
  const processes = processesOf(run.pid);
  expect(processes.length).toBeGreaterThan(4);
  // npm's shell, whose end the command notices, too.
  process.kill(signal === 'SIGINT' ? -run.pid : processes[2]!, signal);
  await expectPage.poll(() => processes.filter(isAlive)).toEqual([]);
});
