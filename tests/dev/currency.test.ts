import { expect as seen, type Page } from 'playwright/test';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { languages, type Language } from '../../worker/contract/languages.ts';
import { folderOf, sentencesOf } from '../../web/build/words/texts.ts';
import { withdrawalLabels } from '../../web/words/withdrawal-labels.ts';
import { factOf } from '../browser/support/withdrawal.ts';
import { callJson } from '../product/machine.ts';
import { cloneTree, runProduct } from './live-clone.ts';
import { newNumber, openBrowser, signIn } from './open-site.ts';

/** Only a failure takes this long. */
const within = seen.configure({ timeout: 60_000 });

const yen: Record<Language, (amount: number) => string> = {
  en: (amount) => `¥${amount.toLocaleString('en')}`,
  es: (amount) => `${amount} JPY`,
  'pt-BR': (amount) => `JP¥ ${amount.toLocaleString('pt-BR')}`,
};
const wordOf = (tag: Language, key: string): string => sentencesOf(folderOf(tag)).get(key)!;

/** As texts are compared: a space that does not break is a space. */
const plain = (text: string) => text.replaceAll('\u00a0', ' ');

describe('plans that are sold in yen, which have no cents', { tags: 'full' }, () => {
  let clone: ReturnType<typeof cloneTree>;
  let product: Awaited<ReturnType<typeof runProduct>>;
  let browser: Awaited<ReturnType<typeof openBrowser>>;

  beforeAll(async () => {
    clone = cloneTree();
    clone.edit('worker/contract/plans.ts', "currency: string = 'usd'", "currency: string = 'jpy'");
    product = await runProduct(clone);
    await product.ready();
    browser = await openBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await product?.interrupt();
    clone?.remove();
  });

  it.each(languages)(
    '$tag: from the prices to the receipt, every amount is in yen',
    async ({ tag, path }) => {
      const phone = newNumber();
      const token = await signIn(product, phone);
      const page = await browser.newPage();
      const go = (to: string) => page.goto(product.siteUrl + path + to);
      await page.goto(`${product.siteUrl}/robots.txt`);
      await page.evaluate((stored) => localStorage.setItem('authToken', stored), token);

      await go('/plans');
      await showsYen(page, tag, [1199, 2999, 7999, 4 * 1199]);
      await go('/order?plan=basic');
      await showsYen(page, tag, [1199, 4 * 1199]);
      await page.getByRole('checkbox').check();
      await page.getByRole('button', { name: wordOf(tag, 'order.order.pay') }).click();
      await within(page.getByText('¥1,199').first()).toBeVisible();
      await page.getByRole('button', { name: 'Subscribe' }).click();
      await page.waitForURL(`**${path}/payment-success*`);

      await callJson('POST', `${product.sandboxUrl}/stripe/clock`, {
        advanceSeconds: 302_400,
        phone,
      });
      await go('/account');
      await showsYen(page, tag, [1199]);
      await go('/withdraw');
      const refund = factOf(page, wordOf(tag, 'withdraw.withdraw.refund'));
      await within.poll(async () => plain(await refund.innerText())).toContain(yen[tag](600));
      await page.getByRole('button', { name: withdrawalLabels[tag].confirm }).click();
      const receipt = page.getByRole('region', {
        name: wordOf(tag, 'withdraw.withdraw.receipt'),
        exact: true,
      });
      await within.poll(async () => plain(await receipt.innerText())).toContain(yen[tag](600));

      const held = `${product.sandboxUrl}/stripe/customers/${encodeURIComponent(phone)}`;
      const { customer } = await callJson<{ customer: { id: string } }>('GET', held);
      const [charge] = await chargesOf(customer.id);
      expect(charge).toMatchObject({
        amount: 1199,
        amount_refunded: 600,
        currency: 'jpy',
      });
      await page.close();
    },
  );

  async function showsYen(page: Page, tag: Language, amounts: number[]): Promise<void> {
    const shown = async () => plain(await page.locator('main').innerText());
    for (const amount of amounts) await within.poll(shown).toContain(yen[tag](amount));
    expect(await shown()).not.toMatch(/US\$|USD|\$\d/);
  }

  async function chargesOf(customer: string): Promise<object[]> {
    const [, key = ''] = /^STRIPE_SECRET_KEY=(.*)$/m.exec(clone.read('.dev.vars')) ?? [];
    const url = `${product.sandboxUrl}/v1/charges?customer=${customer}`;
    const listed = await callJson<{ data: object[] }>('GET', url, undefined, key);
    return listed.data;
  }
});
