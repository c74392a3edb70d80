import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { secrets, startTestSandbox } from '../test-sandbox.ts';

let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;
beforeAll(async () => void (sandbox = await startTestSandbox()));
afterAll(() => sandbox.close());

const code = (value: string) => [{ type: 'text', text: value }];
const template = (changes: object = {}) => ({
  name: 'sign_in_code',
  language: { policy: 'deterministic', code: 'en' },
  components: [
    { type: 'body', parameters: code('012345') },
    { type: 'button', sub_type: 'url', index: '0', parameters: code('012345') },
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
const send = (body: unknown, token = secrets.WHATSAPP_TOKEN, id = secrets.WHATSAPP_PHONE_NUMBER_ID) =>
  sandbox.call('POST', `/whatsapp/v23.0/${id}/messages`, body, { authorization: `Bearer ${token}` });

test('a template arrives as readable text, with its code', async () => {
  const { status, json } = await send(message());
  expect(status).toBe(200);
  expect(json).toMatchObject({
    contacts: [{ input: '15551234567', wa_id: '15551234567' }],
    messages: [{ message_status: 'accepted' }],
  });
  for (const phone of ['+15551234567', '%2B15551234567', '15551234567']) {
    const messages = (await sandbox.call('GET', `/phones/${phone}/messages`)).json;
    expect(messages).toMatchObject([
      {
        from: 'solace',
        text: '012345 is your verification code. For your security, do not share this code.',
        code: '012345',
      },
    ]);
  }
});

test.each([
  ['es', 'Tu código de verificación es 012345. Por tu seguridad, no lo compartas.'],
  ['pt_BR', 'Seu código de verificação é 012345. Para sua segurança, não o compartilhe.'],
])('a template in %s arrives in its language', async (language, text) => {
  const to = language === 'es' ? '15551110001' : '15551110002';
  expect((await send(message({ to, template: template({ language: { code: language } }) }))).status).toBe(200);
  expect((await sandbox.call('GET', `/phones/${to}/messages`)).json).toMatchObject([{ text, code: '012345' }]);
});

test.each([
  ['PENDING', 404, 132_001],
  ['REJECTED', 404, 132_001],
  ['PAUSED', 400, 132_015],
  ['DISABLED', 400, 132_016],
])(
  'a template is refused while it is %s, in its language alone, until it is approved',
  async (status, http, graphCode) => {
    const inLanguage = (code: string) =>
      send(message({ to: '15551110003', template: template({ language: { code } }) }));
    expect((await sandbox.call('PUT', '/templates/es', { status })).json).toEqual({ language: 'es', status });
    await sandbox.restart();
    expect(await inLanguage('es')).toMatchObject({ status: http, json: { error: { code: graphCode } } });
    expect((await inLanguage('en')).status).toBe(200);
    await sandbox.call('PUT', '/templates/es', { status: 'APPROVED' });
    expect((await inLanguage('es')).status).toBe(200);
  },
);

test('the state of a template is one of Meta’s, in a language of the account', async () => {
  expect((await sandbox.call('PUT', '/templates/fr', { status: 'PAUSED' })).status).toBe(400);
  expect((await sandbox.call('PUT', '/templates/es', { status: 'GONE' })).status).toBe(400);
});

test('a handset shows what was sent to its exact id, also after a restart', async () => {
  await sandbox.call('POST', '/phones/+5215512345678/messages', { text: 'Hola' });
  await send(message({ to: '525512345678' }));
  expect((await send(message({ to: '5215512345678' }))).json).toMatchObject({ contacts: [{ wa_id: '5215512345678' }] });
  await sandbox.restart();
  const messagesOf = async (phone: string) => (await sandbox.call('GET', `/phones/${phone}/messages`)).json;
  expect(await messagesOf('+5215512345678')).toMatchObject([{ from: 'user', text: 'Hola' }, { code: '012345' }]);
  expect(await messagesOf('+525512345678')).toMatchObject([{ code: '012345' }]);
});

test('delivery is reported, signed with the app secret', async () => {
  const reports: { signature: string; body: string }[] = [];
  const site = createServer((request, response) => {
    const respond = async () => {
      reports.push({ signature: String(request.headers['x-hub-signature-256']), body: await text(request) });
      response.end('{}');
    };
    void respond();
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  const { port } = site.address() as AddressInfo;
  const own = await startTestSandbox(`http://127.0.0.1:${port}`);
  const headers = { authorization: `Bearer ${secrets.WHATSAPP_TOKEN}` };
  const path = `/whatsapp/v25.0/${secrets.WHATSAPP_PHONE_NUMBER_ID}/messages`;
  await own.call('POST', path, message(), headers);
  await own.call('PUT', '/phones/15551234567/reachable', { reachable: false });
  const lost = await own.call('POST', path, message(), headers);
  await expect.poll(() => reports.length).toBe(3);
  const statuses = reports.map(({ body }) => JSON.parse(body).entry[0].changes[0].value.statuses[0]);
  expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set(['delivered', 'failed', 'sent']));
  const failed = statuses.find(({ status }) => status === 'failed');
  expect(failed).toMatchObject({
    id: lost.json.messages[0].id,
    recipient_id: '15551234567',
    errors: [{ code: 131_026 }],
  });
  for (const { signature, body } of reports) {
    const expected = createHmac('sha256', secrets.WHATSAPP_APP_SECRET!).update(body).digest('hex');
    expect(signature).toBe(`sha256=${expected}`);
  }
  expect((await own.call('GET', '/phones/15551234567/messages')).json).toHaveLength(1);
  await own.close();
  site.close();
});

test('free text is only sent to people who wrote within a day', async () => {
  const text = { type: 'text', text: { body: 'Your code: 222333' }, template: undefined };
  expect((await send(message({ ...text, to: '15550000001' }))).json.error.code).toBe(131_047);
  await sandbox.call('POST', '/phones/15550000001/messages', {});
  expect((await send(message({ ...text, to: '15550000001' }))).status).toBe(200);
  const messages = (await sandbox.call('GET', '/phones/15550000001/messages')).json;
  expect(messages.at(-1)).toMatchObject({ text: 'Your code: 222333', code: '222333' });
});

test('a wrong token is refused', async () => {
  expect(await send(message(), 'wrong')).toMatchObject({
    status: 401,
    json: { error: { code: 190, type: 'OAuthException' } },
  });
});

test.each([
  ['another sender', message(), '999', 400, 100],
  ['no JSON', '{', undefined, 400, 100],
  ['no product', message({ messaging_product: undefined }), undefined, 400, 100],
  ['no recipient', message({ to: undefined }), undefined, 400, 100],
  ['a recipient that is no number', message({ to: 'me' }), undefined, 400, 131_009],
  ['an unknown template', message({ template: template({ name: 'other' }) }), undefined, 404, 132_001],
  ['an unknown language', message({ template: template({ language: { code: 'fr' } }) }), undefined, 404, 132_001],
  ['no parameters', message({ template: template({ components: [] }) }), undefined, 400, 132_000],
  ['an empty text', message({ type: 'text', text: { body: '' } }), undefined, 400, 100],
])('refuses %s', async (_, body, id, status, graphCode) => {
  const response = await send(body, secrets.WHATSAPP_TOKEN, id);
  expect(response).toMatchObject({ status, json: { error: { code: graphCode } } });
});

test('the account returns its token, number and templates', async () => {
  const read = async (path: string, token = secrets.WHATSAPP_TOKEN) =>
    (await sandbox.call('GET', `/whatsapp/v23.0/${path}`, undefined, { authorization: `Bearer ${token}` })).json;
  const { data } = await read(`debug_token?input_token=${secrets.WHATSAPP_TOKEN}`);
  expect(data).toMatchObject({ is_valid: true, expires_at: 0 });
  const account = data.granular_scopes[0].target_ids[0];
  expect(await read(secrets.WHATSAPP_PHONE_NUMBER_ID)).toMatchObject({ id: secrets.WHATSAPP_PHONE_NUMBER_ID });
  expect((await read(`${account}/message_templates?name=sign_in_code`)).data).toMatchObject([
    { name: 'sign_in_code', language: 'en', status: 'APPROVED' },
    { name: 'sign_in_code', language: 'es', status: 'APPROVED' },
    { name: 'sign_in_code', language: 'pt_BR', status: 'APPROVED' },
  ]);
  expect((await read(`${account}/message_templates?name=sign_in_code&language=es`)).data).toHaveLength(1);
  expect((await read(`${account}/message_templates?name=another`)).data).toEqual([]);
  expect((await read(secrets.WHATSAPP_PHONE_NUMBER_ID, 'wrong')).error.code).toBe(190);
  expect((await read('42')).error.code).toBe(100);
});
