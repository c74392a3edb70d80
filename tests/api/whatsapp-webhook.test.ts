import { describe, expect, it, vi } from 'vitest';
import { call, sendWith } from './support/api.ts';

const settings = { WHATSAPP_APP_SECRET: 'the secret of the app', WHATSAPP_VERIFY_TOKEN: 'a token that Meta sends' };
const path = '/api/webhooks/whatsapp';

async function signatureOf(body: string, secret = settings.WHATSAPP_APP_SECRET): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(body)));
  return `sha256=${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

async function post(body: unknown, signature?: string) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = { 'x-hub-signature-256': signature ?? (await signatureOf(text)) };
  const { status, body: answer } = await call('POST', path, { text, headers, settings });
  return { status, body: answer };
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
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((line) => lines.push(String(line)));
    const sent = { ...failed, status: 'delivered', errors: undefined };
    expect(await post(notification([sent, failed]))).toEqual({ status: 200, body: { received: true } });
    const events = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'whatsapp_undelivered');
    expect(events).toEqual([
      { level: 'info', event: 'whatsapp_undelivered', phone: expect.stringMatching(/^[\da-f]{8}$/), code: 131_026 },
    ]);
    expect(lines.join()).not.toContain('5551234567');
    expect(lines.join()).not.toContain(failed.id);
  });

  it('is taken in whatever shape it comes, as long as it is signed', async () => {
    for (const body of [{}, [], notification([]), { entry: [{ changes: [{ value: { messages: [{}] } }] }] }]) {
      expect((await post(body)).status).toBe(200);
    }
    expect(await post('no JSON')).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
  });

  it('is refused when it is not signed with the secret of the app', async () => {
    const body = JSON.stringify(notification([failed]));
    const others = ['', 'sha256=', await signatureOf(body, 'another'), (await signatureOf(body)).slice(7)];
    for (const signature of others) {
      expect(await post(body, signature)).toMatchObject({ status: 401, body: { code: 'invalid_signature' } });
    }
    expect((await post(`${body} `, await signatureOf(body))).status).toBe(401);
  });
});

describe('the handshake with Meta', () => {
  const ask = (query: Record<string, string>) =>
    sendWith(settings, new Request(`http://solace.test${path}?${new URLSearchParams(query).toString()}`));
  const right = {
    'hub.mode': 'subscribe',
    'hub.verify_token': settings.WHATSAPP_VERIFY_TOKEN,
    'hub.challenge': '1158201444',
  };

  it('gives the challenge back as text when the token is right', async () => {
    const response = await ask(right);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('1158201444');
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
  });

  it('refuses another token before it looks at anything else', async () => {
    const response = await ask({ ...right, 'hub.verify_token': 'wrong' });
    expect(response.status).toBe(401);
    expect(await response.text()).not.toContain('1158201444');
  });

  it('refuses another mode and a challenge that is markup', async () => {
    expect((await ask({ ...right, 'hub.mode': 'unsubscribe' })).status).toBe(400);
    expect((await ask({ ...right, 'hub.challenge': '<script>' })).status).toBe(400);
  });
});

it('is 404 where it is not set up', async () => {
  const off = { WHATSAPP_APP_SECRET: '', WHATSAPP_VERIFY_TOKEN: '' };
  expect((await call('POST', path, { body: {}, settings: off })).status).toBe(404);
  const handshake = `${path}?hub.mode=subscribe&hub.verify_token=&hub.challenge=1`;
  expect((await call('GET', handshake, { settings: off })).status).toBe(404);
});
