import { Stub } from './stub.ts';
import { expect, test as base } from './test.ts';

/** A test whose API is a stub; dates are shown in UTC, and animations are off. */
export const test = base.extend<{ stub: Stub }>({
  timezoneId: 'UTC',
  contextOptions: { reducedMotion: 'reduce' },
  baseURL: async ({ stubServer }, use) => use(stubServer.url),
  stub: [
    async ({ page, client, expectedErrors, stubServer }, use) => {
      const stub = new Stub(page, expectedErrors);
      const remove = stubServer.handle(client, (request, response) => stub.take(request, response));
      await use(stub);
      remove();
    },
    { auto: true },
  ],
});

export { expect };
