import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { apiTests, touchedTests } from './touched-tests.ts';

test('selects the API tests of a changed part, and changed tests', () => {
  const touched = touchedTests(['worker/chat/chat-user.ts', 'tests/api/trials.test.ts'], apiTests());
  expect(touched).toContain('tests/api/chat.test.ts');
  expect(touched).toContain('tests/api/chat-privacy.test.ts');
  expect(touched).toContain('tests/api/trials.test.ts');
  expect(touched).not.toContain('tests/api/billing.test.ts');
});

const parts = ['worker', 'worker/endpoints']
  .flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`))
  .filter((path) => !/^worker\/(docs|operations|endpoints|README\.md|tsconfig\.json)$/.test(path));

test.each([...parts, 'drizzle/schema.ts'])('knows the tests of %s', (path) => {
  expect(touchedTests([path.endsWith('.ts') ? path : `${path}/any.ts`], apiTests())).not.toEqual([]);
});

test('selects nothing for a document', () => {
  expect(touchedTests(['README.md'], apiTests())).toEqual([]);
});
