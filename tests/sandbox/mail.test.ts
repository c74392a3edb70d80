import { afterAll, expect, test } from 'vitest';
import { secrets, startTestSandbox } from './test-sandbox.ts';

const sandbox = await startTestSandbox();
afterAll(() => sandbox.close());

const authorized = {
  authorization: `Bearer ${secrets.MAIL_API_KEY}`,
  'content-type': 'application/json',
};
const newEmail = () => `${crypto.randomUUID()}@example.com`;
const mail = (changes: object = {}) => ({
  from: secrets.MAIL_FROM,
  to: newEmail(),
  subject: 'Receipt',
  text: 'One line.\nAnother.',
  ...changes,
});
const send = (body: unknown, headers: Record<string, string> = {}) =>
  sandbox.call('POST', '/mail/emails', body, {
    ...authorized,
    ...headers,
  });
const inboxOf = async (email: string) => (await sandbox.call('GET', `/mail/${email}`)).json;

test('a mail is in the inbox of its recipient, in any case of letters', async () => {
  const to = newEmail();
  const { status, json } = await send(mail({ to: to.toUpperCase() }));
  expect(status).toBe(200);
  expect(await inboxOf(to)).toMatchObject([{ id: json.id, text: 'One line.\nAnother.' }]);
});

test('the newest mails of everybody are listed, and on the page', async () => {
  const sent = [mail(), mail()];
  for (const each of sent) await send(each);
  const { json } = await sandbox.call('GET', '/mail');
  expect(json.slice(-2)).toMatchObject(sent);
  const { json: page } = await sandbox.call('GET', '/page/state?phone=%2B15551234567');
  expect(page.mails).toEqual(json);
});

test('a key sends one mail, however often it comes; another mail under it is refused', async () => {
  const [first, key] = [mail(), { 'idempotency-key': crypto.randomUUID() }];
  const { json } = await send(first, key);
  expect((await send(first, key)).json).toEqual(json);
  expect(await inboxOf(first.to)).toHaveLength(1);
  const other = await send({ ...first, text: 'Something else' }, key);
  expect(other).toMatchObject({
    status: 409,
    json: { name: 'invalid_idempotent_request' },
  });
});

test.each([
  ['a caller without a name', mail(), { 'user-agent': '' }, 403, 'access_denied'],
  ['no key', mail(), { authorization: '' }, 401, 'validation_error'],
  ['another key', mail(), { authorization: 'Bearer other' }, 401, 'validation_error'],
  ['another domain', mail({ from: 'a@other.example' }), {}, 403, 'validation_error'],
  ['no text', mail({ text: undefined }), {}, 422, 'missing_required_field'],
  ['no recipient', mail({ to: undefined }), {}, 422, 'missing_required_field'],
  ['no address', mail({ to: 'nobody' }), {}, 422, 'validation_error'],
  ['two lines of subject', mail({ subject: 'a\nBcc: b@c.example' }), {}, 422, 'validation_error'],
  ['an unknown field', mail({ html_text: 'x' }), {}, 422, 'validation_error'],
  ['no JSON', 'text', { 'content-type': 'text/plain' }, 422, 'validation_error'],
  ['a long key', mail(), { 'idempotency-key': 'k'.repeat(257) }, 400, 'invalid_idempotency_key'],
] as const)('refuses %s', async (_, body, headers, status, name) => {
  expect(await send(body, headers)).toMatchObject({
    status,
    json: { statusCode: status, name },
  });
});
