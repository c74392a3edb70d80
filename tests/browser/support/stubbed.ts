import { Stub } from './stub.ts';
import { expect, test as base } from './test.ts';

/** A test whose API is a stub; dates are shown in UTC, and animations are off. */
export const test = base.extend<{ stub: Stub }>({
  contextOptions: { timezoneId: 'UTC', reducedMotion: 'reduce' },
  baseURL: async ({ stubServer }, use) => use(stubServer.url),
  stub: [
    async ({ page, client, expectedErrors, stubServer }, use) => {
      const stub = new Stub(page, expectedErrors);
      stubServer.handlers.set(client, (incoming, response) => stub.take(incoming, response));
      await use(stub);
      stubServer.handlers.delete(client);
    },
    { auto: true },
  ],
});

export { expect };
