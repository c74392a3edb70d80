import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright/test';
import { brand } from '../../worker/contract/brand.ts';
import { languages } from '../../worker/contract/languages.ts';
import { withdrawalLabels } from '../../web/words/withdrawal-labels.ts';
import {
  expectToBeAccessible,
  expectToFit,
  follow,
  hydrated,
  open,
  setVisible,
  settle,
} from './support/page.ts';
import { day, hour, mailsTo, Phone } from './support/phone.ts';
import {
  fullUnless,
  buy,
  enterCode,
  expect,
  signInByExternalToken,
  startNowBox,
  stubbed,
  test,
  toPayment,
  unscripted,
} from './support/test.ts';
import { watchFirstPaint } from './support/first-paint.ts';
import { over } from './support/stub.ts';
import { factOf, secondsLeft, stateFor } from './support/withdrawal.ts';

const confirmButton = (page: Page) =>
  page.getByRole('button', {
    name: withdrawalLabels.en.confirm,
    exact: true,
  });
const doneHeading = (page: Page) => page.getByRole('heading', { name: 'You have withdrawn' });
const receiptOf = (page: Page) =>
  page.getByRole('region', {
    name: 'Confirmation',
    exact: true,
  });
async function buyer(page: Page, phone: Phone, startsNow = false): Promise<void> {
  await signInByExternalToken(page, phone);
  await buy(page, 'Basic', { startsNow });
}

async function openWithdrawal(page: Page): Promise<void> {
  await page.getByRole('contentinfo').getByRole('link', { name: 'Withdraw from contract' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Withdraw from contract');
}

test('without the tick everything comes back, with a receipt on screen, as a file and by the bot', async ({
  page,
  phone,
}) => {
  await buyer(page, phone);
  await openWithdrawal(page);
  await expect(factOf(page, 'Plan')).toHaveText('Basic');
  await expect(factOf(page, 'You get back')).toHaveText(
    '$11.99: everything that you have paid since then.',
  );
  await expectToFit(page, 320, 360);
  await expectToBeAccessible(page);
  await confirmButton(page).dblclick();
  await expect(doneHeading(page)).toBeFocused();
  await expect(receiptOf(page)).toContainText('You get back: $11.99');
  await expectToBeAccessible(page);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as a file' }).click();
  const file = await readFile(await (await download).path(), 'utf8');
  expect(file.trim()).toBe(await receiptOf(page).innerText());
  expect(await phone.subscriptionStates()).toEqual(['canceled']);
  const received = (await phone.messages()).filter(({ text }) =>
    text.includes('You have withdrawn'),
  );
  expect(received).toHaveLength(1);

  await page.reload();
  await expect(doneHeading(page)).toBeVisible();
  await follow(page.getByRole('link', { name: 'Go to My Account' }), '**/account');
  // The count of the week stays.
  await expect(page.getByText('1 / 5')).toBeVisible();
});

test(
  'with the tick the time until the statement is paid for, also with Back and in two tabs',
  { tag: '@full' },
  async ({ page, context, phone }) => {
    await signInByExternalToken(page, phone);
    await page.goto('/plans');
    await page.getByRole('button', { name: 'Choose Basic' }).click();
    await startNowBox(page).check();
    await toPayment(page).click();
    await expect(page.getByRole('button', { name: 'Subscribe' })).toBeVisible();
    await page.goBack();
    await startNowBox(page).setChecked(true);
    await toPayment(page).click();
    await page.getByRole('button', { name: 'Subscribe' }).click();
    await expect(page.getByRole('heading', { name: 'Payment Successful!' })).toBeVisible();
    await phone.advance(3 * day + 12 * hour);
    const other = await context.newPage();
    for (const tab of [page, other]) {
      await tab.goto('/withdraw');
      await expect(factOf(tab, 'You get back')).toHaveText(
        /^\$(5\.99|6\.00): you paid \$11\.99 and asked us to begin at once, so the time until now costs \$(5\.99|6\.00)\.$/,
      );
    }
    await Promise.all([page, other].map((tab) => confirmButton(tab).click()));
    for (const tab of [page, other]) await expect(doneHeading(tab)).toBeVisible();
    expect(await receiptOf(page).innerText()).toBe(await receiptOf(other).innerText());
    expect(await phone.subscriptionStates()).toEqual(['canceled']);

    await page.goBack();
    await page.goForward();
    await expect(doneHeading(page)).toBeVisible();
    await expect(confirmButton(page)).toHaveCount(0);
  },
);

test(
  'what another tab has done is on the page when it is shown again',
  { tag: '@full' },
  async ({ page, context, phone }) => {
    await signInByExternalToken(page, phone, '/withdraw');
    await expect(page.getByText(/^There is no contract/)).toBeVisible();
    const other = await context.newPage();
    /** Does something in the other tab, and comes back. */
    const meanwhile = async (work: () => Promise<void>) => {
      await setVisible(page, false);
      await work();
      await setVisible(page, true);
    };

    await meanwhile(() => buy(other, 'Basic'));
    await expect(factOf(page, 'Plan')).toHaveText('Basic');
    await meanwhile(async () => {
      await other.goto('/order?plan=premium');
      await toPayment(other).click();
      await other.getByRole('button', { name: 'Switch to Premium' }).click();
      await other.waitForURL((url) => url.href.startsWith(process.env.SITE_URL!));
    });
    await expect(factOf(page, 'Plan')).toHaveText('Premium');
    await meanwhile(async () => {
      await openWithdrawal(other);
      await confirmButton(other).click();
      await expect(doneHeading(other)).toBeVisible();
    });
    await expect(doneHeading(page)).toBeVisible();
    expect(await receiptOf(page).innerText()).toBe(await receiptOf(other).innerText());

    await meanwhile(() => buy(other, 'Basic'));
    await expect(factOf(page, 'Plan')).toHaveText('Basic');
    // A receipt makes way for a new contract, too.
    await confirmButton(page).click();
    await expect(doneHeading(page)).toBeFocused();
    await meanwhile(() => buy(other, 'Premium'));
    await expect(factOf(page, 'Plan')).toHaveText('Premium');
  },
);

test(
  'a stranger’s statement for a number is told to its person, who keeps the plan',
  { tag: '@full' },
  async ({ page, phone }) => {
    await buyer(page, phone);
    await stateFor(page, phone.number);
    await page.goto('/withdraw');
    await expect(page.getByRole('heading', { name: /^On .* somebody withdrew/ })).toBeVisible();
    await expectToBeAccessible(page);
    await page.getByRole('button', { name: 'That was not me' }).click();
    await expect(factOf(page, 'Plan')).toHaveText('Basic');
    expect(await phone.subscriptionStates()).toEqual(['active']);
  },
);

test('signed out, the form takes a statement and its receipt says nothing about accounts', async ({
  page,
  phone,
}) => {
  await page.goto('/');
  await openWithdrawal(page);
  await hydrated(page, 'main form');
  await confirmButton(page).click();
  await expect(page.getByLabel('Your name')).toBeFocused();
  await expect(page.getByText('Please write your name, with 2 to 200 characters.')).toBeVisible();
  await expect(page.getByText('Please write a phone number or an e-mail address.')).toBeVisible();
  await expectToBeAccessible(page);
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel(/^Phone number of your account/).fill(phone.number);
  await page.getByLabel(/^Which plan/).fill('Basic <script>');
  // What is not sent outlives a reload.
  await page.reload();
  await expect(page.getByLabel('Your name')).toHaveValue('Ada Lovelace');
  await confirmButton(page).click();
  await expect(doneHeading(page)).toBeFocused();
  await expect(receiptOf(page)).toContainText('Name: Ada Lovelace');
  await expect(receiptOf(page)).toContainText('Contract: Basic <script>');
  await expectToFit(page, 320, 360);
  // A receipt outlives it, too, above an empty form for another statement.
  await page.reload();
  await expect(receiptOf(page)).toContainText('Name: Ada Lovelace');
  await expect(page.getByLabel('Your name')).toHaveValue('');
  await page.getByLabel('Your name').fill('Ada King');
  await page.getByLabel(/^Phone number of your account/).fill(phone.number);
  await confirmButton(page).click();
  await expect(receiptOf(page)).toContainText('Name: Ada King');
  await expect(doneHeading(page)).toBeFocused();
});

test('the field for an e-mail address does not move the button when it comes', async ({ page }) => {
  const answer = Promise.withResolvers<void>();
  await page.route('**/api/withdrawals', async (route) => {
    await answer.promise;
    await route.continue();
  });
  await open(page, '/withdraw');
  const before = await confirmButton(page).boundingBox();
  await expect(emailField(page)).toBeHidden();

  answer.resolve();
  await expect(emailField(page)).toBeVisible();
  expect(await confirmButton(page).boundingBox()).toEqual(before);
});

const emailField = (page: Page) => page.getByLabel(/^E-mail address for the confirmation/);

test(
  'the receipt also goes to an e-mail address, where one is given',
  { tag: '@full' },
  async ({ page, phone }) => {
    await page.goto('/withdraw');
    const email = `ada${phone.number.slice(1)}@example.com`;
    await page.getByLabel('Your name').fill('Ada Lovelace');
    await page.getByLabel(/^Phone number of your account/).fill('ada@example.com');
    await emailField(page).fill(email);
    await confirmButton(page).click();
    await expect(page.getByText('We also send it by e-mail.')).toBeVisible();
    await expect.poll(async () => (await mailsTo(email)).length).toBe(1);
    expect((await mailsTo(email))[0]!.text).not.toContain('Lovelace');

    await buyer(page, phone);
    await page.goto('/withdraw');
    await emailField(page).fill('nowhere');
    await confirmButton(page).click();
    await expect(emailField(page)).toBeFocused();
    await expect(
      page.getByText('Please write an e-mail address, or leave this empty.'),
    ).toBeVisible();
    await expectToBeAccessible(page);
    await emailField(page).fill(email);
    await emailField(page).press('Enter');
    await expect(doneHeading(page)).toBeFocused();
    await expect.poll(async () => (await mailsTo(email)).length).toBe(2);
    expect((await mailsTo(email))[1]!.text).toBe(await receiptOf(page).innerText());
  },
);

test(
  'who is signed in and has no contract finds the known number in the form',
  { tag: '@full' },
  async ({ page, phone }) => {
    await signInByExternalToken(page, phone);
    await page.goto('/withdraw');
    const number = page.getByLabel(/^Phone number of your account/);
    await expect(number).toHaveValue(phone.number);
    await number.fill('ada@example.com');
    await page.reload();
    await expect(number).toHaveValue('ada@example.com');
  },
);

stubbed('whose account waits for approval finds the form, and no login', async ({ page, stub }) => {
  await stub.signedIn({ status: 'pending' });
  await page.goto('/withdraw');
  await hydrated(page, 'main form');
  await expect(page.getByRole('link', { name: 'My Account' })).toBeVisible();
  await expect(page.getByLabel(/^Phone number of your account/)).toHaveValue('+15551234567');
  await expect(confirmButton(page)).toBeVisible();
  await expect(page.getByRole('link', { name: 'Log in, and see what comes back' })).toHaveCount(0);
});

test(
  'signed out, a login leads back to the contract',
  { tag: '@full' },
  async ({ page, phone }) => {
    await buyer(page, phone);
    await page.evaluate(() => localStorage.clear());
    await page.goto('/withdraw');
    const login = page.getByRole('link', { name: 'Log in, and see what comes back' });
    await follow(login, '**/login?next=*');
    await page.getByLabel('Phone number', { exact: true }).fill(phone.number);
    await enterCode(page, phone);
    await page.waitForURL('**/withdraw');
    await expect(factOf(page, 'Plan')).toHaveText('Basic');
  },
);

const afterMoves =
  'after a move to a dearer plan its payment comes back, and a plan after a trial never begins';
test(afterMoves, { tag: '@full' }, async ({ page, phone }) => {
  await buyer(page, phone, true);
  await phone.advance(2 * day);
  await page.goto('/order?plan=premium');
  await startNowBox(page).check();
  await toPayment(page).click();
  await page.getByRole('button', { name: 'Switch to Premium' }).click();
  await page.goto('/account');
  await expect(page.getByText('0 / 70')).toBeVisible();
  const leaving = page.getByRole('region', { name: 'Leaving a plan' });
  await expect(leaving.getByRole('link')).toHaveText([
    'Cancel subscription',
    'Withdraw from contract',
  ]);
  await follow(leaving.getByRole('link', { name: 'Withdraw from contract' }), '**/withdraw');
  await expect(factOf(page, 'Plan')).toHaveText('Premium');
  await confirmButton(page).click();
  await expect(doneHeading(page)).toBeVisible();
  expect(await phone.subscriptionStates()).toEqual(['canceled']);

  const other = new Phone();
  await other.beginTrial({ tier: 'premium', days: 3 });
  await signInByExternalToken(page, other, '/order?plan=basic');
  await page.getByRole('button', { name: 'Go to payment details' }).click();
  await page.getByRole('button', { name: 'Subscribe' }).click();
  await expect(page.getByRole('heading', { name: 'Payment details saved' })).toBeVisible();
  await page.goto('/withdraw');
  await expect(factOf(page, 'You get back')).toHaveText(
    'Nothing was paid yet, and nothing will be charged.',
  );
  await confirmButton(page).click();
  await expect(doneHeading(page)).toBeVisible();
  await other.advance(5 * day);
  expect(await other.subscriptionStates()).toEqual(['canceled']);
});

/** The last minute of the right, and the minute after it, by Stripe's clock. */
test('the right ends with its last day in UTC-12', { tag: '@full' }, async ({ page, phone }) => {
  await buyer(page, phone);
  await phone.advance((await secondsLeft(page)) - 60);
  await page.goto('/withdraw');
  await expect(confirmButton(page)).toBeVisible();
  await phone.advance(2 * 60);
  await page.reload();
  await expect(page.getByText(/^There is no contract from which you could withdraw/)).toBeVisible();
  // A late statement is taken all the same.
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel(/^Phone number of your account/).fill(phone.number);
  await confirmButton(page).click();
  await expect(doneHeading(page)).toBeVisible();
  expect(await phone.subscriptionStates()).toEqual(['active']);
});

stubbed(
  'what cannot be looked up can be stated, and every state is said',
  { tag: '@full' },
  async ({ page, stub }) => {
    await stub.signedIn({ tier: 'basic' });
    stub.respond('getWithdrawal', { success: false, code: 'unavailable', message: 'Later.' }, 503);
    await open(page, '/withdraw');
    await expect(page.getByRole('alert')).toContainText('You can still withdraw');
    await page.getByLabel('Your name').fill('Ada Lovelace');
    const look = stub.hold('getWithdrawal');
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByRole('button', { name: 'One moment...' })).toBeVisible();
    await expect(page.getByLabel('Your name')).toHaveValue('Ada Lovelace');
    look();
    await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible();
    const statement = {
      id: 'x',
      submittedAt: '2026-11-28T10:00:00.000Z',
      refund: 1199,
    };
    for (const [state, text] of Object.entries({
      received: 'What comes back is being computed.',
      refunding: 'The money is on its way to you.',
      done: 'Anything you get back has been sent.',
      needs_owner: 'You need not do anything.',
    })) {
      stub.respond('getWithdrawal', {
        success: true,
        contract: null,
        statement: { ...statement, state },
        receipt: 'The receipt',
      });
      await open(page, '/withdraw');
      await expect(page.getByRole('main').getByText(text)).toBeVisible();
      await expect(receiptOf(page)).toHaveText('The receipt');
    }
    stub.respond('getWithdrawal', {
      success: true,
      contract: null,
      statement: null,
    });
    await open(page, '/withdraw');
    await expect(page.getByText(/^There is no contract/)).toBeVisible();
    stub.respond(
      'stateWithdrawal',
      { success: false, code: 'rate_limited', message: 'Wait.' },
      429,
    );
    await page.getByLabel('Your name').fill('Ada Lovelace');
    await page.getByLabel(/^Phone number of your account/).fill('ada@example.com');
    await confirmButton(page).click();
    await expect(page.getByRole('alert')).toHaveText('Too many requests. Please try again later.');
    // Without a mail service nobody is asked for an address.
    await expect(emailField(page)).toBeHidden();
    await expect(page.getByLabel('Your name')).toHaveValue('Ada Lovelace');
    await settle(page);
  },
);

stubbed(
  'a session that ends leads to the login without a glimpse of the guests’ form, and on from there with or without one',
  { tag: '@full' },
  async ({ page, stub }) => {
    const { seen } = await watchFirstPaint(page);
    await stub.signedIn({});
    stub.respond('getWithdrawalForm', { success: true, email: true });
    await open(page, '/withdraw');
    await page.getByLabel('Your name').fill('Ada Lovelace');
    await emailField(page).fill('ada@example.com');
    await page.reload();
    await expect(emailField(page)).toHaveValue('ada@example.com');
    stub.respond('getWithdrawal', over, 401);
    await setVisible(page, false);
    await setVisible(page, true);
    await page.waitForURL('**/login?next=%2Fwithdraw');
    expect(await seen()).not.toContain('Without logging in');

    // Whose session ended goes on with what was typed.
    const without = page.getByRole('link', { name: 'withdraw without logging in' });
    await follow(without, '**/withdraw');
    await expect(page.getByRole('heading', { name: 'Without logging in' })).toBeVisible();
    await expect(page.getByLabel('Your name')).toHaveValue('Ada Lovelace');
    await expect(emailField(page)).toHaveValue('ada@example.com');
    // Whoever comes later finds nothing.
    await page.getByRole('contentinfo').getByRole('link', { name: 'Terms' }).click();
    // The address changes before the form is gone.
    await expect(page.getByRole('heading', { level: 1, name: 'Terms' })).toBeVisible();
    await openWithdrawal(page);
    await expect(page.getByLabel('Your name')).toHaveValue('');

    stub.respond('getWithdrawal', {
      success: true,
      contract: null,
      statement: null,
    });
    await follow(
      page.getByRole('link', { name: 'Log in, and see what comes back' }),
      '**/login?next=*',
    );
    stub.respond('verifyOtp', {
      success: true,
      token: 'e2e-token',
      status: 'approved',
    });
    await page.getByLabel('Phone number', { exact: true }).fill('+15551234567');
    await enterCode(page);
    await page.waitForURL('**/withdraw');
    await expect(page.getByLabel('Your name')).toHaveValue('Ada Lovelace');
  },
);

stubbed(
  'opened with a session that has ended, it leads to the login without a glimpse of the guests’ form',
  async ({ page, stub }) => {
    const { seen } = await watchFirstPaint(page);
    await stub.signedIn({});
    stub.respond('getMe', over, 401);
    await page.goto('/withdraw');
    await page.waitForURL('**/login?next=%2Fwithdraw');
    expect(await seen()).not.toContain('Without logging in');
  },
);

for (const { tag, path } of languages)
  unscripted(
    `${tag}: without JavaScript it says where a statement can be sent`,
    fullUnless(tag === 'es'),
    async ({ page }) => {
      const { withdraw } = withdrawalLabels[tag];
      await page.goto(`${path}/`);
      await page.getByRole('contentinfo').getByRole('link', { name: withdraw }).click();
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(withdraw);
      const main = page.getByRole('main');
      await expect(main.getByText(/JavaScript/)).toBeVisible();
      // Nothing is offered that would do nothing.
      await expect(main.getByRole('button')).toHaveCount(0);
      await expect(main.getByRole('textbox')).toHaveCount(0);
      await expect(main.locator('blockquote')).toContainText(brand.companyAddress);
      await expect(main.locator(`a[href^="mailto:${brand.supportEmail}?subject="]`)).toBeVisible();
    },
  );
