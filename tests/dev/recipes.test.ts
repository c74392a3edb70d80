import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect as within } from 'playwright/test';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cloneTree, runProduct } from './live-clone.ts';
import { textOf } from './edits.ts';
import { openBrowser } from './open-site.ts';

/** Only a failure takes this long. */
const seen = within.configure({ timeout: 60_000 });
let clone: ReturnType<typeof cloneTree>;
let product: Awaited<ReturnType<typeof runProduct>>;
let browser: Awaited<ReturnType<typeof openBrowser>>;

const guide = readFileSync('.github/CONTRIBUTING.md', 'utf8');
const patches = new Map(
  [...guide.matchAll(/^\*\*(.+)\.\*\* [\s\S]*?^```diff\n([\s\S]*?)^```/gm)].map(
    ([, title = '', patch = '']) => [title, patch],
  ),
);

type Edit = { file: string; from: string; to: string };

/** A recipe's changes as a person would make them: a line with `#` names the file of the lines after it. */
function editsOf(title: string): Edit[] {
  const [, ...parts] = (patches.get(title) ?? '').split(/^# (.*)\n/m);
  const edits: Edit[] = [];
  for (let part = 0; part < parts.length; part += 2) {
    const lines = parts[part + 1]!.trimEnd().split('\n');
    const without = (sign: string) =>
      lines.filter((line) => !line.startsWith(sign)).map((line) => line.slice(1));
    const [from, to] = [without('+').join('\n'), without('-').join('\n')];
    edits.push({ file: parts[part]!, from, to });
  }
  return edits;
}

function apply(title: string): void {
  for (const { file, from, to } of editsOf(title)) clone.edit(file, from, to);
}

function language(...words: string[]): string {
  const command = ['run', '--silent', 'language', '--', ...words];
  return execFileSync('npm', command, {
    cwd: clone.folder,
    encoding: 'utf8',
  });
}

it('knows a test for every recipe', () => {
  expect([...patches.keys()]).toEqual([
    'A sentence',
    "A plan's price",
    'A field of a response',
    'A language',
  ]);
});

it.each([...patches.keys()])('%s: the recipe changes lines that are there', (title) => {
  const edits = editsOf(title);
  expect(edits.length).toBeGreaterThan(0);
  for (const { file, from } of edits) expect(readFileSync(file, 'utf8')).toContain(from);
});

describe('while npm run dev runs', { tags: 'full' }, () => {
  beforeAll(async () => {
    clone = cloneTree();
    product = await runProduct(clone);
    await product.ready();
    browser = await openBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await product?.interrupt();
    clone?.remove();
  });

  it('a sentence shows on the page', async () => {
    const page = await browser.newPage();
    await page.goto(`${product.siteUrl}/login`);
    const title = page.getByRole('heading', { level: 1 });
    await seen(title).toHaveText('Log in to Solace');
    apply('A sentence');
    await seen(title).toHaveText('Welcome to Solace');
  });

  it("a plan's price shows on the page and at Stripe", async () => {
    const page = await browser.newPage();
    await page.goto(`${product.siteUrl}/es/plans`);
    apply("A plan's price");
    await seen(page.getByText('12,99').first()).toBeVisible();
    execFileSync('npm', ['run', '--silent', 'stripe:setup'], {
      cwd: clone.folder,
      env: { ...process.env, STRIPE_API_BASE: product.sandboxUrl },
    });
    const [, key = ''] = /^STRIPE_SECRET_KEY=(.*)$/m.exec(clone.read('.dev.vars')) ?? [];
    const prices = await textOf(`${product.sandboxUrl}/v1/prices?active=true`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(JSON.parse(prices)).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ unit_amount: 1299 })]),
    });
  });

  it('a field of a response is in the response', async () => {
    apply('A field of a response');
    await seen.poll(() => textOf(`${product.siteUrl}/api/country`)).toContain('"isKnown":');
  });

  it('a language has its folder, and its file for translators', () => {
    apply('A language');
    language('add', 'it');
    language('export', 'it');
    expect(clone.read('it.po')).toContain('msgid "Verify Code"');
  });
});
