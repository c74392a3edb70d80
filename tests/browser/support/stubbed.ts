import { endpoints } from '../../../worker/contract/endpoints.ts';
import { type Call, Stub } from './stub.ts';
import { expect, test as base } from './test.ts';

/** A test whose API is a stub; dates are shown in UTC, and animations are off. */
export const test = base.extend<{ stub: Stub }>({
  contextOptions: { timezoneId: 'UTC', reducedMotion: 'reduce' },
  baseURL: async ({ stubServer }, use) => use(stubServer.url),
  stub: [
    async ({ page, client, expectedErrors, stubServer }, use) => {
      const stub = new Stub(page, expectedErrors);
      stubServer.handlers.set(client, (incoming, response) => stub.take(incoming, response));
      await page.context().addCookies([{ name: 'kept', value: 'here', url: stubServer.url }]);
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
  expect([name, mode, headers.cookie, token !== undefined]).toEqual([name, 'cors', undefined, isOfUser]);
}

export { expect };
