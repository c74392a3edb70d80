import { expect, test as base, type BrowserContext, type Page } from 'playwright/test';
import { endpoints } from '../../../worker/contract/endpoints.ts';
import { Phone } from './phone.ts';
import { SharedContexts } from './contexts.ts';
import { follow, watchToasts } from './page.ts';
import { type Call, clientHeader, startStubServer, Stub, type StubServer } from './stub.ts';

/** Whether the long tours are taken, too. */
export const isFull = Boolean(process.env['TEST_FULL']);

/** The options of a test that runs every time if it stands for its list, and else as a long tour. */
export const fullUnless = (isChosen: boolean) => ({ tag: isChosen ? [] : '@full' });

type Fixtures = {
  phone: Phone;
  /** The network address of the test's browser. */
  client: string;
  /** Console errors that the test expects. */
  expectedErrors: RegExp[];
  settings: object;
};

/** What the tests of a worker share; one set for all tests, since Playwright restarts a worker for another set. */
type Shared = { sharedContexts: SharedContexts; stubServer: StubServer };

/** Every test has its own phone and address; a console error fails it. */
export const test = base.extend<Fixtures, Shared>({
  baseURL: async ({}, use) => use(process.env.SITE_URL),
  phone: async ({}, use) => use(new Phone()),
  client: async ({}, use) => use(`10.${crypto.getRandomValues(new Uint8Array(3)).join('.')}`),
  // Only a test cuts the connection; the script is that of a newer service worker, which Chrome looks for then.
  expectedErrors: async ({}, use) =>
    use([/ERR_INTERNET_DISCONNECTED/, /error occurred when fetching the script/]),
  stubServer: [
    async ({}, use) => {
      const server = await startStubServer(process.env.SITE_URL!);
      await use(server);
      await server.close();
    },
    { scope: 'worker' },
  ],
  sharedContexts: [
    async ({ browser }, use) => use(new SharedContexts(browser)),
    { scope: 'worker' },
  ],
  settings: async (
    { contextOptions, baseURL, viewport, locale, javaScriptEnabled, serviceWorkers },
    use,
  ) =>
    use({
      ...contextOptions,
      baseURL,
      viewport,
      locale,
      javaScriptEnabled,
      serviceWorkers,
    }),
  context: async ({ sharedContexts, settings, client, expectedErrors }, use) => {
    const context = await sharedContexts.take(settings);
    await context.setExtraHTTPHeaders({ [clientHeader]: client });
    const found = watchErrors(context);
    await use(context);
    for (const event of ['console', 'response', 'weberror'])
      await context.removeAllListeners(event, {});
    await sharedContexts.giveBack(settings);
    expect(
      found.filter((error) => !expectedErrors.some((expected) => expected.test(error))),
    ).toEqual([]);
  },
  page: async ({ page }, use) => {
    await watchToasts(page);
    await use(page);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  },
});

/** A test in a browser without JavaScript. */
export const unscripted = test.extend({ javaScriptEnabled: false });

/** A test whose API is a stub; dates are shown in UTC. */
export const stubbed = test.extend<{ stub: Stub }>({
  contextOptions: { timezoneId: 'UTC', reducedMotion: 'reduce' },
  baseURL: async ({ stubServer }, use) => use(stubServer.url),
  stub: [
    async ({ page, client, expectedErrors, stubServer }, use) => {
      const stub = new Stub(page, expectedErrors);
      stubServer.handlers.set(client, (incoming, response) => stub.take(incoming, response));
      await page.context().addCookies([
        {
          name: 'kept',
          value: 'here',
          url: stubServer.url,
        },
      ]);
      await use(stub);
      stubServer.handlers.delete(client);
      for (const call of stub.calls()) expectNoNeedlessCredentials(call);
    },
    { auto: true },
  ],
});

/** No call sends a cookie, and only those of a user a token. Streams and visited addresses are not ours to choose. */
function expectNoNeedlessCredentials({ name, headers, token }: Call): void {
  const mode = headers['sec-fetch-mode'];
  if (mode === 'navigate' || name === 'usageStream' || name === 'chatStream') return;
  const isOfUser = endpoints[name].access === 'user';
  expect([name, mode, headers.cookie, token !== undefined]).toEqual([
    name,
    'cors',
    undefined,
    isOfUser,
  ]);
}

/** Collects what the pages of a context report, until its listeners are removed. */
function watchErrors(context: BrowserContext): string[] {
  const found: string[] = [];
  context.on('console', (message) => {
    if (message.type() === 'error')
      found.push(`${message.text()} ${message.location().url}`.trim());
  });
  context.on('response', (response) => {
    if (response.status() >= 500) found.push(`${response.status()} ${response.url()}`);
  });
  context.on('weberror', (error) => void found.push(String(error.error())));
  return found;
}

export { expect };

/** Signs in by the code that the number in the form receives; a stub accepts any. */
export async function enterCode(page: Page, phone?: Phone): Promise<void> {
  const known = (await phone?.codes())?.length;
  await page.getByRole('button', { name: 'Send Verification Code' }).click();
  await page.getByLabel('Verification code').fill(phone ? await phone.code(known) : '123456');
  await page
    .getByRole('button', {
      name: 'Verify Code',
      exact: true,
    })
    .click();
}

/** Signs in with an external token after one message to the assistant, without the login page, and opens a page. */
export async function signInByExternalToken(
  page: Page,
  phone: Phone,
  path = '/account',
): Promise<void> {
  await phone.write('Hi');
  const response = await page.request.post('/api/auth/verify-external-token', {
    data: await phone.externalToken(),
  });
  const { token } = (await response.json()) as { token: string };
  await page.goto('/robots.txt');
  await page.evaluate((stored) => localStorage.setItem('authToken', stored), token);
  await page.goto(path);
}

/** The box of the review by which a buyer asks to begin at once. */
export const startNowBox = (page: Page) =>
  page.getByRole('checkbox', { name: /^Please begin at once/ });

export const toPayment = (page: Page) => page.getByRole('button', { name: 'Go to payment' });

/** Buys a plan at the payment provider and returns to the account. */
export async function buy(page: Page, plan = 'Basic', { startsNow = false } = {}): Promise<void> {
  await page.goto('/plans');
  await page.getByRole('button', { name: `Choose ${plan}` }).click();
  if (startsNow) await startNowBox(page).check();
  await toPayment(page).click();
  await page.getByRole('button', { name: 'Subscribe' }).click();
  await expect(page.getByRole('heading', { name: 'Payment Successful!' })).toBeVisible();
  await follow(page.getByRole('link', { name: 'Manage My Account' }), '**/account');
}
