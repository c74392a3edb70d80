import type { Page } from 'playwright/test';
import { languages, type Language } from '../../worker/contract/languages.ts';
import { withdrawalLabels } from '../../web/words/withdrawal-labels.ts';
import {
  changeColours,
  expectToBeAccessible,
  expectToFit,
  hydrated,
  open,
} from './support/page.ts';
import { day, hour, mailsTo, Phone } from './support/phone.ts';
import { expect, signInByExternalToken, stubbed, test, unscripted } from './support/test.ts';
import { factOf, secondsLeft, stateFor } from './support/withdrawal.ts';
import { expectNoEnglish, sentenceOf } from './support/words.ts';

const widths = [390, 1440];
const folder = process.env['PICTURES'];

/** The withdrawal in one language, each of whose screens is looked at on a phone and on a desktop, in both themes. */
class Tour {
  readonly page: Page;
  readonly language: (typeof languages)[number];
  readonly tag: Language;

  constructor(page: Page, language: (typeof languages)[number]) {
    this.page = page;
    this.language = language;
    this.tag = language.tag;
  }

  say = (key: string, values?: Record<string, string>) => sentenceOf(this.tag, key, values);
  word = (key: string, values?: Record<string, string>) =>
    this.say(`withdraw.withdraw.${key}`, values);
  money = (amount: number) =>
    new Intl.NumberFormat(this.tag, {
      style: 'currency',
      currency: 'USD',
    }).format(amount);

  go = (to: string) => this.page.goto(this.language.path + to);
  on = (page: Page) => new Tour(page, this.language);
  field = (name: string) => this.page.locator(`[name=${name}]`);
  button = (name: string) =>
    this.page.getByRole('button', {
      name,
      exact: true,
    });
  heading = (name: string) =>
    this.page.getByRole('heading', {
      name,
      exact: true,
    });
  footerLink = () =>
    this.page
      .getByRole('contentinfo')
      .getByRole('link', { name: withdrawalLabels[this.tag].withdraw });
  confirm = () => this.button(withdrawalLabels[this.tag].confirm);
  done = () => this.heading(this.word('doneTitle'));
  receipt = () =>
    this.page.getByRole('region', {
      name: this.word('receipt'),
      exact: true,
    });
  fact = (key: string) => factOf(this.page, this.word(key));

  signIn = (phone: Phone, to = '/account') =>
    signInByExternalToken(this.page, phone, this.language.path + to);

  /** Goes through the review of an order, and presses a button of the payment provider. */
  async order(plan: string, press: string, { startsNow = false } = {}): Promise<void> {
    await this.go(`/order?plan=${plan}`);
    if (startsNow) await this.page.getByRole('checkbox').check();
    await this.toPayment().click();
    await this.button(press).click();
    await this.page.waitForURL((url) => url.href.startsWith(process.env.SITE_URL!));
  }

  /** Whatever the review's button says, it is the way to the payment. */
  toPayment = () =>
    ['pay', 'details', 'change']
      .map((key) => this.button(this.say(`order.order.${key}`)))
      .reduce((one, other) => one.or(other));

  async buys(phone: Phone, how?: { startsNow: boolean }): Promise<void> {
    await this.signIn(phone);
    await this.order('basic', 'Subscribe', how);
    await this.hasPaid();
  }

  /** Waits until the site knows of the payment, and says so. */
  async hasPaid(): Promise<void> {
    await this.page.waitForURL(`**${this.language.path}/payment-success*`);
    await expect(this.page.getByText(this.say('results.paymentSuccess.welcome'))).toBeVisible();
  }

  async withdraw(): Promise<void> {
    await this.confirm().click();
    await expect(this.done()).toBeFocused();
  }

  async seen(name: string): Promise<void> {
    await expectNoEnglish(this.page, this.tag);
    for (const width of widths) {
      await expectToFit(this.page, width);
      await expectToBeAccessible(this.page);
    }
    await this.keep(name);
  }

  /** With `PICTURES`, keeps what a person sees. */
  async keep(name: string): Promise<void> {
    if (!folder) return;
    for (const width of widths) await this.#keepAt(width, name);
  }

  async #keepAt(width: number, name: string): Promise<void> {
    await this.page.setViewportSize({ width, height: 800 });
    for (const colours of ['light', 'dark'] as const) {
      await changeColours(this.page, colours);
      const path = `${folder}/${name}-${this.tag}-${width}-${colours}.png`;
      await this.page.screenshot({ path, fullPage: true });
    }
  }
}

for (const language of languages) {
  const { tag, path } = language;

  test(
    `${tag}: bought without the tick after a way back, withdrawn on the first day in two tabs`,
    { tag: '@full' },
    async ({ page, context, phone }) => {
      const tour = new Tour(page, language);
      await tour.signIn(phone, '/order?plan=basic');
      await expect(page.getByRole('checkbox')).not.toBeChecked();
      await tour.seen('order');
      await tour.toPayment().click();
      await expect(tour.button('Subscribe')).toBeVisible();
      await page.goBack();
      await tour.toPayment().click();
      await tour.button('Subscribe').click();
      await tour.hasPaid();

      const other = tour.on(await context.newPage());
      const all = tour.word('refundAll', { refund: tour.money(11.99) });
      for (const each of [tour, other]) {
        await each.go('/');
        // The sections above the footer take their place as the page starts.
        await hydrated(each.page);
        await each.footerLink().click();
        await expect(each.fact('refund')).toHaveText(all);
      }
      await tour.seen('contract');
      await Promise.all([tour, other].map((each) => each.confirm().click()));
      for (const each of [tour, other]) await expect(each.done()).toBeVisible();
      expect(await tour.receipt().innerText()).toBe(await other.receipt().innerText());
      expect(await phone.subscriptionStates()).toEqual(['canceled']);
      await page.goBack();
      await page.goForward();
      await expect(tour.done()).toBeVisible();
      await expect(tour.confirm()).toHaveCount(0);
      await tour.seen('receipt');
      await tour.go('/account');
      await expect(page.getByText('1 / 5')).toBeVisible();
    },
  );

  test(
    `${tag}: with the tick the time is paid for, on day 3 and on day 13, and a second time changes nothing`,
    { tag: '@full' },
    async ({ page, phone }) => {
      const tour = new Tour(page, language);
      await tour.buys(phone, { startsNow: true });
      await phone.advance(3 * day + 12 * hour);
      await tour.go('/account');
      const leaving = page.getByRole('region', { name: tour.say('leaving.leaving.title') });
      await expect(leaving).toBeVisible();
      await tour.seen('account');
      await leaving.getByRole('link', { name: withdrawalLabels[tag].withdraw }).click();
      const halves = [5.99, 6].map((back) =>
        tour.word('refundPart', {
          refund: tour.money(back),
          paid: tour.money(11.99),
          used: tour.money(11.99 - back),
        }),
      );
      await expect(tour.fact('refund')).toContainText(tour.money(11.99));
      expect(halves).toContain(await tour.fact('refund').innerText());
      await tour.seen('contract-day-3');
      await tour.withdraw();
      const receipt = await tour.receipt().innerText();
      await page.reload();
      await expect(tour.receipt()).toHaveText(receipt);

      const late = new Phone();
      await tour.buys(late, { startsNow: true });
      await late.advance(13 * day);
      await tour.go('/withdraw');
      // The first week is over, and so is most of the second.
      await expect(tour.fact('refund')).toContainText(tour.money(23.98));
      await tour.seen('contract-day-13');
      await tour.withdraw();
      for (const each of [phone, late])
        expect(await each.subscriptionStates()).toEqual(['canceled']);
    },
  );

  test(
    `${tag}: in the last minute in UTC-12 everything comes back, one minute after it nothing by itself`,
    { tag: '@full' },
    async ({ page, phone }) => {
      const tour = new Tour(page, language);
      await tour.buys(phone);
      await phone.advance((await secondsLeft(page)) - 60);
      await tour.go('/withdraw');
      await expect(tour.fact('refund')).toContainText(tour.money(3 * 11.99));
      await tour.withdraw();
      expect(await phone.subscriptionStates()).toEqual(['canceled']);

      const late = new Phone();
      await tour.buys(late);
      await late.advance((await secondsLeft(page)) + 60);
      await tour.go('/withdraw');
      await expect(page.getByText(tour.word('none'))).toBeVisible();
      await tour.seen('too-late');
      // A late statement is taken all the same.
      await tour.field('name').fill('Ada Lovelace');
      await tour.withdraw();
      await tour.seen('receipt-too-late');
      expect(await late.subscriptionStates()).toEqual(['active']);
    },
  );

  test(
    `${tag}: a stranger's statement is told to its person, who objects or confirms`,
    { tag: '@full' },
    async ({ page, phone }) => {
      const tour = new Tour(page, language);
      await tour.buys(phone);
      await stateFor(page, phone.number, tag);
      await tour.go('/account');
      await expect(
        page.getByRole('region', { name: tour.say('leaving.leaving.title') }),
      ).toContainText(withdrawalLabels[tag].withdraw);
      await tour.seen('account-waiting');
      await tour.go('/withdraw');
      await expect(tour.button(tour.word('notMe'))).toBeVisible();
      await expect(tour.fact('plan')).toHaveText('Basic');
      await expect(tour.fact('refund')).toContainText(tour.money(11.99));
      await tour.seen('waiting');
      await tour.button(tour.word('notMe')).click();
      await expect(tour.fact('plan')).toHaveText('Basic');
      expect(await phone.subscriptionStates()).toEqual(['active']);

      const other = new Phone();
      await tour.buys(other);
      await stateFor(page, other.number, tag);
      await tour.go('/withdraw');
      await expect(tour.button(tour.word('notMe'))).toBeVisible();
      await tour.withdraw();
      await expect(tour.receipt()).not.toContainText('Mallory');
      await expect(tour.fact('refund')).toHaveText(tour.money(11.99));
      expect(await other.subscriptionStates()).toEqual(['canceled']);
    },
  );

  test(
    `${tag}: after a move to a dearer plan, and before the plan that follows a trial`,
    { tag: '@full' },
    async ({ page, phone }) => {
      const tour = new Tour(page, language);
      await tour.buys(phone);
      await phone.advance(2 * day);
      await tour.go('/order?plan=premium');
      await expect(tour.toPayment()).toBeVisible();
      await tour.seen('order-upgrade');
      await tour.order('premium', 'Switch to Premium');
      await tour.go('/withdraw');
      await expect(tour.fact('plan')).toHaveText('Premium');
      await tour.seen('contract-upgrade');
      await tour.withdraw();
      expect(await phone.subscriptionStates()).toEqual(['canceled']);

      const other = new Phone();
      await other.beginTrial({ tier: 'premium', days: 3 });
      await tour.signIn(other, '/order?plan=basic');
      await expect(tour.toPayment()).toBeVisible();
      await tour.seen('order-trial');
      await tour.order('basic', 'Subscribe');
      await expect(tour.heading(tour.say('results.detailsSaved.title'))).toBeVisible();
      await tour.go('/withdraw');
      await expect(tour.fact('refund')).toHaveText(tour.word('refundNothing'));
      await tour.seen('contract-trial');
      await tour.withdraw();
      await tour.seen('receipt-trial');
      await other.advance(5 * day);
      expect(await other.subscriptionStates()).toEqual(['canceled']);
    },
  );

  test(
    `${tag}: signed out, with mistakes, twice, and by e-mail`,
    { tag: '@full' },
    async ({ page, phone }) => {
      const tour = new Tour(page, language);
      await open(page, `${path}/withdraw`);
      await tour.seen('guest');
      await tour.field('email').fill('nowhere');
      await tour.confirm().click();
      await expect(tour.field('name')).toBeFocused();
      for (const key of ['nameRule', 'contactRule', 'emailRule'])
        await expect(page.getByText(tour.word(key))).toBeVisible();
      await tour.seen('guest-mistakes');
      const email = `ada${phone.number.slice(1)}@example.com`;
      for (const times of [1, 2]) {
        await tour.field('name').fill('Ada Lovelace');
        await tour.field('contact').fill(phone.number);
        await tour.field('plan').fill('Basic <script>');
        await tour.field('email').fill(email);
        await tour.withdraw();
        await expect(tour.receipt()).toContainText('Basic <script>');
        await expect.poll(async () => (await mailsTo(email)).length).toBe(times);
        if (times === 2) await tour.seen('guest-receipt');
        await tour.go('/withdraw');
      }
    },
  );

  stubbed(
    `${tag}: what cannot be looked up can be stated, and every state is said`,
    { tag: '@full' },
    async ({ page, stub }) => {
      const tour = new Tour(page, language);
      await stub.signedIn({ tier: 'basic' });
      stub.respond('getWithdrawal', { success: false, code: 'unavailable' }, 503);
      await open(page, `${path}/withdraw`);
      await expect(page.getByText(tour.word('failed'))).toBeVisible();
      await tour.seen('failed');
      const statement = {
        id: 'x',
        submittedAt: '2026-11-28T10:00:00.000Z',
        refund: 1199,
      };
      for (const state of ['received', 'refunding', 'done', 'needs_owner']) {
        const receipt = 'Ada: 2026-11-28';
        stub.respond('getWithdrawal', {
          success: true,
          contract: null,
          statement: { ...statement, state },
          receipt,
        });
        await tour.go('/withdraw');
        const said = sentenceOf(tag, `withdraw.withdraw.states.${state}`);
        await expect(page.getByText(said)).toBeVisible();
        await tour.seen(`state-${state}`);
      }
    },
  );

  unscripted(`${tag}: without JavaScript, in both themes`, { tag: '@full' }, async ({ page }) => {
    const tour = new Tour(page, language);
    await tour.go('/');
    await tour.footerLink().click();
    await expect(page.getByRole('main').getByText(/JavaScript/)).toBeVisible();
    await expectToFit(page, ...widths);
    await tour.keep('without-script');
  });
}
