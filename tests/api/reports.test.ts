import { expect, it } from 'vitest';
import { call } from './support/api.ts';
import { newWriter, reply, textsOf, write } from './support/chat.ts';
import { codeState, newCode, reportStatus, requestOtp } from './support/codes.ts';
import { newContact, newPhone } from './support/contacts.ts';
import { logLines } from './support/requests.ts';
import { during, sandbox } from './support/sandbox.ts';

/** Public reports of other products, each of which would hurt here: the project and the number of its report. */

it('elizaOS/eliza 23671, nanocoai/nanoclaw 1009: half a character, as a cut emoji leaves it, loses no statement', async () => {
  const name = 'Ada \u{1f98a}'.slice(0, -1);
  const { status, body } = await call('POST', '/api/withdrawals', {
    body: { name, contact: newPhone() },
  });
  expect(status).toBe(200);
  expect(body.receipt).toContain('Ada \ufffd');
});

it.each([
  ["o'brien@example.ie", "o'brien@example.ie"],
  ['ana@xn--bcher-kva.example', 'ana@xn--bcher-kva.example'],
  ['moya@xn--h1alffa9f.xn--p1ai', 'moya@xn--h1alffa9f.xn--p1ai'],
  ['ana@b\u00fccher.example', 'ana@xn--bcher-kva.example'],
  ['ana\uff20example.com', 'ana@example.com'],
  ['mailto:ana@example.com', 'ana@example.com'],
  ['Ana Li <ana@example.com>', 'ana@example.com'],
  ['\u202aana@example.com\u202c ', 'ana@example.com'],
  ['ana@example', null],
  ['ana li@example.com', null],
  ['ana@example.com, eva@example.com', null],
])(
  'lightdash 20874, polar 5806, validate.js 87: the receipt of %j goes to %j',
  async (email, address) => {
    const body = { name: 'Ada', contact: newPhone(), email };
    const { status } = await call('POST', '/api/withdrawals', { body });
    expect(status).toBe(address ? 200 : 400);
    if (address) await expect.poll(() => sandbox.mails(address)).not.toEqual([]);
  },
);

it.each([-290, 4, 50])(
  'lcobucci/jwt 191, tymon/jwt-auth 1053: an issuer whose clock is %d s ahead signs people in',
  async (ahead) => {
    const iat = Math.floor(Date.now() / 1000) + ahead;
    const claims = { iat, nbf: iat, exp: iat + 600 };
    const { token } = await sandbox.externalToken(newPhone(), { claims });
    const { status } = await call('POST', '/api/auth/verify-external-token', { body: { token } });
    expect(status).toBe(200);
  },
);

it.each([-10, -50])(
  'lcobucci/jwt 191: no clock makes a token valid that expired %d s ago',
  async (exp) => {
    const seconds = Math.floor(Date.now() / 1000);
    const claims = { iat: seconds - 100, exp: seconds + exp };
    const { token } = await sandbox.externalToken(newPhone(), { claims });
    const { status } = await call('POST', '/api/auth/verify-external-token', { body: { token } });
    expect(status).toBe(401);
  },
);

const aboutUs = [
  ['a payment that failed', 131_042],
  ['a number that is not registered', 133_010],
  ['a name that is not approved', 131_037],
  ['a locked account', 131_031],
] as const;

it.each(aboutUs)(
  'fbsamples/whatsapp-business-jaspers-market 1: %s at WhatsApp is told to the owner, not to try again',
  async (_, code) => {
    const { phone } = await newContact();
    const fault = { status: 400, code, match: phone.slice(1) };
    const refused = await during({ whatsapp: fault }, () => requestOtp(phone));
    expect(refused.body).toMatchObject({ code: 'codes_unavailable' });
    expect(logLines('whatsapp_forbidden')).toMatchObject([{ level: 'error', code }]);
  },
);

it.each(aboutUs)(
  'fbsamples/whatsapp-business-jaspers-market 1: so is %s that a status tells later',
  async (_, code) => {
    const sent = await newCode();
    await reportStatus(sent.phone, {
      status: 'failed',
      errors: [{ code, title: 'Failed' }],
    });
    expect(await codeState(sent)).toBe('undelivered');
    expect(logLines('whatsapp_forbidden')).toMatchObject([{ level: 'error', code }]);
    expect(logLines('whatsapp_undelivered')).toEqual([]);
  },
);

it('BotFramework-WebChat 1429: a line break of another program parts words, and lines', async () => {
  const { phone, token } = await newWriter();
  await write(token, 'From slides\vand pages\fand more');
  await reply(phone, 'One\vtwo');
  expect(await textsOf({ token })).toEqual(['From slides\nand pages\nand more', 'One\ntwo']);
});
