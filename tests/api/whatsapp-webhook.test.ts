import { describe, expect, it } from 'vitest';
import { call, hex, sendWith } from './support/api.ts';
import { logLines } from './support/requests.ts';

const settings = { WHATSAPP_APP_SECRET: 'the secret of the app', WHATSAPP_VERIFY_TOKEN: 'a token that Meta sends' };
const path = '/api/webhooks/whatsapp';

async function signatureOf(body: string, secret = settings.WHATSAPP_APP_SECRET): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
  return `sha256=${hex(await crypto.subtle.sign('HMAC', key, encoder.encode(body)))}`;
}

async function post(body: unknown, signature?: string) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = { 'x-hub-signature-256': signature ?? (await signatureOf(text)) };
  return call('POST', path, { text, headers, settings });
}

const notification = (statuses: object[]) => ({
  object: 'whatsapp_business_account',
  entry: [{ id: '1', changes: [{ field: 'messages', value: { messaging_product: 'whatsapp', statuses } }] }],
});
const failed = {
  id: 'wamid.HBgLMTU1NTEyMzQ1NjcVAgARGBI',
  status: 'failed',
  timestamp: '1700000000',
  recipient_id: '15551234567',
  errors: [{ code: 131_026, title: 'Message undeliverable' }],
};

describe('a report of WhatsApp on a code', () => {
  it('that could not be delivered is logged with the tag of the number and the error code', async () => {
    const sent = { ...failed, status: 'delivered', errors: undefined };
    expect(await post(notification([sent, failed]))).toMatchObject({ status: 200, body: { received: true } });
    expect(logLines('whatsapp_undelivered')).toEqual([
      { level: 'info', event: 'whatsapp_undelivered', phone: expect.stringMatching(/^[\da-f]{8}$/), code: 131_026 },
    ]);
    const log = JSON.stringify(logLines());
    for (const secret of ['5551234567', failed.id]) expect(log).not.toContain(secret);
  });

  it('is taken in whatever shape it comes, as long as it is signed with the secret of the app', async () => {
    for (const body of [{}, [], notification([]), { entry: [{ changes: [{ value: { messages: [{}] } }] }] }])
      expect((await post(body)).status).toBe(200);
    expect(await post('no JSON')).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    const body = JSON.stringify(notification([failed]));
    const right = await signatureOf(body);
    for (const signature of ['', 'sha256=', await signatureOf(body, 'another'), right.slice(7)])
      expect(await post(body, signature)).toMatchObject({ status: 401, body: { code: 'invalid_signature' } });
    expect((await post(`${body} `, right)).status).toBe(401);
  });
});

it('gives the challenge of the handshake with Meta back as text, when token, mode and challenge are right', async () => {
  const ask = async (changes: Record<string, string>) => {
    const token = settings.WHATSAPP_VERIFY_TOKEN;
    const right = { 'hub.mode': 'subscribe', 'hub.verify_token': token, 'hub.challenge': '1158201444' };
    const query = new URLSearchParams({ ...right, ...changes }).toString();
    const response = await sendWith(settings, new Request(`http://solace.test${path}?${query}`));
    return { status: response.status, text: await response.text(), type: response.headers.get('content-type') };
  };
  const type = expect.stringMatching(/^text\/plain/);
  expect(await ask({})).toEqual({ status: 200, text: '1158201444', type });
  const refused = await ask({ 'hub.verify_token': 'wrong' });
  expect(refused).toMatchObject({ status: 401, text: expect.not.stringContaining('1158201444') });
  expect((await ask({ 'hub.mode': 'unsubscribe' })).status).toBe(400);
  expect((await ask({ 'hub.challenge': '<script>' })).status).toBe(400);
});

it('is 404 where it is not set up', async () => {
  const off = { WHATSAPP_APP_SECRET: '', WHATSAPP_VERIFY_TOKEN: '' };
  expect((await call('POST', path, { body: {}, settings: off })).status).toBe(404);
  const handshake = `${path}?hub.mode=subscribe&hub.verify_token=&hub.challenge=1`;
  expect((await call('GET', handshake, { settings: off })).status).toBe(404);
});
