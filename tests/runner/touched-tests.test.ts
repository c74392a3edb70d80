import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { apiTests, touchedTests } from './touched-tests.ts';

test('selects the API tests of a changed part, and changed tests', () => {
  const touched = touchedTests(['worker/chat/consent.ts', 'tests/api/trials.test.ts'], apiTests());
  expect(touched).toContain('tests/api/chat.test.ts');
  expect(touched).toContain('tests/api/chat-privacy.test.ts');
  expect(touched).toContain('tests/api/trials.test.ts');
  expect(touched).not.toContain('tests/api/billing.test.ts');
});

test.each([
  'worker/chat/',
  'worker/sign-in/',
  'worker/trials/',
  'worker/usage/',
  'worker/accounts/',
  'worker/billing/',
  'worker/bot/',
  'worker/http/',
  'worker/lib/',
  'worker/endpoints/auth.ts',
  'worker/endpoints/billing.ts',
  'worker/endpoints/bot.ts',
  'worker/endpoints/chat.ts',
  'worker/endpoints/user.ts',
  'worker/endpoints/webhooks.ts',
  'drizzle/',
])('knows the tests of %s', (path) => {
  expect(existsSync(path)).toBe(true);
  expect(touchedTests([path.endsWith('/') ? `${path}any.ts` : path], apiTests())).not.toEqual([]);
});

test('selects nothing for a document', () => {
  expect(touchedTests(['README.md'], apiTests())).toEqual([]);
});
