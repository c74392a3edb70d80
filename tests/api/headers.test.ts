import { expect, it } from 'vitest';
import { send } from './support/api.ts';
import { newPerson } from './support/person.ts';

/** The headers of every API response. */
const always = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  vary: 'Origin',
  'x-content-type-options': 'nosniff',
};

it('are on every kind of response, and no response affects the next', async () => {
  const { token } = await newPerson();
  const origin = 'https://app.example';
  const granted = ['access-control-allow-headers', 'access-control-allow-methods', 'access-control-max-age'];
  const answers: [answer: Response, own: string[]][] = [
    [await send('/api/user/me'), ['content-type', 'www-authenticate']],
    [await send('/api/health', { method: 'PUT' }), ['allow', 'content-type']],
    [await send('/api/user/me', { headers: { authorization: `Bearer ${token}` } }), ['content-type']],
    [await send('/api/user/me', { method: 'OPTIONS', headers: { origin } }), granted],
    [await send(`/api/user/usage-stream?token=${token}`), ['content-type']],
    [await send('/api/nothing'), ['content-type']],
  ];
  const ids = new Set<string>();
  for (const [answer, own] of answers) {
    const { 'x-request-id': id, 'content-length': _, ...headers } = Object.fromEntries(answer.headers);
    expect(headers).toMatchObject(always);
    expect(Object.keys(headers).toSorted()).toEqual([...Object.keys(always), ...own].toSorted());
    ids.add(id!);
    await answer.body?.cancel();
  }
  expect(ids.size).toBe(answers.length);
});
