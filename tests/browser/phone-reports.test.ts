import { chat, messageOf, openConversation, send } from './support/chat.ts';
import { expectToFit, hydrated, open, settle } from './support/page.ts';
import { elsewhere } from './support/stub.ts';
import { expect, signInByExternalToken, stubbed, test, toPayment } from './support/test.ts';

/** Public reports about chat on phones, payments and codes, each of which would hurt here: the project and its number. */

const hello = [messageOf(1, 'Hello')];
const phone = { width: 390, height: 844 };

/** More than a screen. */
const long = Array.from({ length: 40 }, (_, index) =>
  messageOf(index + 1, `Line ${index + 1} of a long talk`),
);

const token = `https://example.com/?${'gclid=CjwKCAjwtIfPBhAzEiwAv9RTJnr9cOxnpdWx39FBh'.repeat(8)}`;

stubbed(
  'vm0-ai/vm0 9821, dubinc/dub 4408: a long address stays inside its bubble',
  async ({ page, stub }) => {
    const both = [messageOf(1, token), messageOf(2, token, { author: 'solace' })];
    await openConversation(page, stub, both);
    await expectToFit(page, 320, 360);
    for (const message of await chat.log(page).or(chat.history(page)).locator('p').all()) {
      const { scroll, client } = await message.evaluate((one) => ({
        scroll: one.scrollWidth,
        client: one.clientWidth,
      }));
      expect(scroll).toBeLessThanOrEqual(client);
    }
  },
);

stubbed(
  'ory/kratos 4330, postlund/pyatv 164: zeros at the beginning of a code are part of it',
  async ({ page, stub }) => {
    stub.respond('verifyOtp', { success: false, code: 'invalid_code' }, 400);
    await open(page, '/login');
    await page.getByLabel('Phone number').fill('+15551234567');
    await page.getByRole('button', { name: 'Send Verification Code' }).click();
    await page.getByLabel('Verification code').fill('004217');
    await page.getByRole('button', { name: 'Verify Code', exact: true }).click();
    await expect.poll(() => stub.calls('verifyOtp').length).toBe(1);
    expect(stub.calls('verifyOtp')[0]!.body).toMatchObject({ otp: '004217' });
  },
);

test('openfoodnetwork 8619, mollie/magento2 687: the page of a payment says the same when it is loaded again', async ({
  page,
  phone: own,
}) => {
  await signInByExternalToken(page, own);
  await page.goto('/order?plan=basic');
  await toPayment(page).click();
  await page.getByRole('button', { name: 'Subscribe' }).click();
  const success = page.getByRole('heading', { name: 'Payment Successful!' });
  await expect(success).toBeVisible();
  for (const _ of [1, 2]) {
    await page.reload();
    await expect(success).toBeVisible();
  }
  expect((await own.holdings()).subscriptions).toHaveLength(1);
});

stubbed(
  'papermark 2184, shipshapecode/shepherd 3014: the button to the payment works again after Back',
  async ({ page, stub }) => {
    await stub.signedIn({});
    const portalUrl = `${elsewhere}/checkout/1`;
    stub.respond('createSubscriptionUpdateSession', { success: true, portalUrl });
    await page.route(`${elsewhere}/**`, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<h1>Pay</h1>' }),
    );
    await page.goto('/order?plan=basic');
    await hydrated(page);
    for (const _ of [1, 2]) {
      await toPayment(page).click();
      await page.waitForURL(portalUrl);
      await page.goBack();
      await expect(toPayment(page)).toHaveText('Go to payment');
    }
    expect(stub.calls('createSubscriptionUpdateSession')).toHaveLength(2);
  },
);

stubbed(
  'nextcloud/talk-ios 533, CyberCodeOnline 1163: what is sent without a network waits, and the field goes on',
  async ({ page, stub, context, expectedErrors }) => {
    expectedErrors.push(/ERR_INTERNET_DISCONNECTED|net::ERR/);
    await openConversation(page, stub, hello);
    await context.setOffline(true);
    await send(page, 'Are you there?');
    await expect(chat.message(page, 'Are you there?').getByText('Not sent')).toBeVisible();
    await context.setOffline(false);
    stub.respond('sendMessage', { success: true, message: messageOf(2, 'And now?') });
    await send(page, 'And now?');
    await expect.poll(() => stub.calls('sendMessage').length).toBe(1);
    await expect(chat.message(page, 'Are you there?')).toBeVisible();
  },
);

stubbed(
  'tommyxchow/frosty 497: a text that came too soon is in the field again',
  async ({ page, stub }) => {
    const limited = { success: false, code: 'rate_limited' };
    stub.respond('sendMessage', limited, 429, { 'retry-after': '30' });
    await openConversation(page, stub, hello);
    await send(page, 'Too soon');
    await expect(page.getByRole('main').getByRole('alert')).toBeVisible();
    await expect(chat.field(page)).toHaveValue('Too soon');
  },
);

stubbed(
  'threema-web 777, nearai/ironclaw 1139: the Enter that ends a composition sends nothing',
  async ({ page, stub }) => {
    await openConversation(page, stub, hello);
    await chat.field(page).fill('にほん');
    const enter = (details: object) =>
      chat
        .field(page)
        .evaluate(
          (field, init) =>
            field.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, ...init })),
          { key: 'Enter', ...details },
        );
    await enter({ isComposing: true });
    await enter({ keyCode: 229 });
    await settle(page);
    expect(stub.calls('sendMessage')).toHaveLength(0);
    await expect(chat.field(page)).toHaveValue('にほん');
  },
);

stubbed(
  'livechat/chat-widget-sample 13: a conversation at its end does not drag the page along',
  async ({ page, stub }) => {
    await page.setViewportSize(phone);
    await openConversation(page, stub, long);
    const place = await page.evaluate(() => scrollY);
    await page.mouse.move(195, 400);
    for (const by of [4000, -9000, 9000]) await page.mouse.wheel(0, by);
    await settle(page);
    expect(await page.evaluate(() => scrollY)).toBe(place);
    await expect(chat.field(page)).toBeInViewport();
  },
);
