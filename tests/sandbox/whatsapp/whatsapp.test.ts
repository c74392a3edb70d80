import { afterAll, expect, test } from 'vitest';
import { secrets, startTestSandbox } from '../test-sandbox.ts';

const sandbox = await startTestSandbox();
afterAll(() => sandbox.close());

const code = (value: string) => [{ type: 'text', text: value }];
const template = (changes: object = {}) => ({
  name: 'sign_in_code',
  language: { policy: 'deterministic', code: 'en' },
  components: [
    { type: 'body', parameters: code('012345') },
    {
      type: 'button',
      sub_type: 'url',
      index: '0',
      parameters: code('012345'),
    },
  ],
  ...changes,
});
const message = (changes: object = {}) => ({
  messaging_product: 'whatsapp',
  to: '15551234567',
  type: 'template',
  template: template(),
  ...changes,
});
const inLanguage = (code: string, to: string) =>
  message({ to, template: template({ language: { code } }) });
const authorized = (token: string) => ({ authorization: `Bearer ${token}` });
const path = `/whatsapp/v23.0/${secrets.WHATSAPP_PHONE_NUMBER_ID}`;
const send = (body: unknown, token = secrets.WHATSAPP_TOKEN, sender = path) =>
  sandbox.call('POST', `${sender}/messages`, body, authorized(token));

test('a template arrives as readable text, with its code, at any spelling of a number', async () => {
  const to = '15551110000';
  const { status, json } = await send(inLanguage('en', to));
  expect(status).toBe(200);
  expect(json).toMatchObject({
    contacts: [{ input: to, wa_id: to }],
    messages: [{ message_status: 'accepted' }],
  });
  const text = '012345 is your verification code. For your security, do not share this code.';
  for (const spelling of [`+${to}`, `%2B${to}`, to])
    expect(await sandbox.messagesOf(spelling)).toMatchObject([
      { from: 'solace', text, code: '012345' },
    ]);
});

test.each([
  ['PENDING', 404, 132_001],
  ['REJECTED', 404, 132_001],
  ['PAUSED', 400, 132_015],
  ['DISABLED', 400, 132_016],
])(
  'a template is refused while it is %s, in its language alone, until it is approved',
  async (status, http, code) => {
    const to = '15551110003';
    expect((await sandbox.call('PUT', '/templates/es', { status })).json).toEqual({
      language: 'es',
      status,
    });
    await sandbox.restart();
    expect(await send(inLanguage('es', to))).toMatchObject({
      status: http,
      json: { error: { code } },
    });
    expect((await send(inLanguage('en', to))).status).toBe(200);
    await sandbox.call('PUT', '/templates/es', { status: 'APPROVED' });
    expect((await send(inLanguage('es', to))).status).toBe(200);
  },
);

test('a handset shows what was sent to its exact id, also after a restart', async () => {
  await sandbox.call('POST', '/phones/+5215512345678/messages', { text: 'Hola' });
  await send(message({ to: '525512345678' }));
  expect((await send(message({ to: '5215512345678' }))).json).toMatchObject({
    contacts: [{ wa_id: '5215512345678' }],
  });
  await sandbox.restart();
  expect(await sandbox.messagesOf('+5215512345678')).toMatchObject([
    { from: 'user', text: 'Hola' },
    { code: '012345' },
  ]);
  expect(await sandbox.messagesOf('+525512345678')).toMatchObject([{ code: '012345' }]);
});

const tooLong = [
  { type: 'body', parameters: code('1234567890123456') },
  {
    type: 'button',
    sub_type: 'url',
    index: 0,
    parameters: code('1234567890123456'),
  },
];
const noText = [{ type: 'body', parameters: [{ type: 'text' }] }];
test.each([
  ['a wrong token', message(), 401, 190, 'wrong'],
  ['another sender', message(), 400, 100, undefined, '/whatsapp/v23.0/999'],
  ['no JSON', '{', 400, 100],
  ['no product', message({ messaging_product: undefined }), 400, 100],
  ['no recipient', message({ to: undefined }), 400, 100],
  ['a recipient that is no number', message({ to: 'me' }), 400, 131_009],
  ['no template', message({ template: undefined }), 400, 100],
  ['an unknown template', message({ template: template({ name: 'other' }) }), 404, 132_001],
  ['an unknown language', inLanguage('fr', '15551234567'), 404, 132_001],
  ['no parameters', message({ template: template({ components: [] }) }), 400, 132_000],
  [
    'a parameter without text',
    message({ template: template({ components: noText }) }),
    400,
    131_008,
  ],
  ['a code of 16 characters', message({ template: template({ components: tooLong }) }), 400, 100],
  ['a message of another type', message({ type: 'image' }), 400, 100],
])('refuses %s', async (_, body, status, code, token?: string, sender?: string) => {
  expect(await send(body, token, sender)).toMatchObject({
    status,
    json: { error: { code } },
  });
});
