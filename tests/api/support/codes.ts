import { botCall, call, hex, type Settings } from './api.ts';
import { newBusinessUserId, newContact, newPhone } from './contacts.ts';
import { newestCode, sandbox } from './sandbox.ts';
import { until } from './clock.ts';

/** A code that was sent, and the challenge of who requested it. */
export type Code = {
  phone: string;
  otp: string;
  challenge?: string | undefined;
};
/** A try with one challenge, with several, or without. */
type Try = {
  phone: string;
  otp: string;
  challenge?: string | string[] | undefined;
};
type Caller = { address?: string | undefined; settings?: Settings };

export const requestOtp = (phone: string, address?: string, settings?: Settings) =>
  call('POST', '/api/auth/request-otp', {
    body: { phone },
    address,
    settings,
  });

/** Somebody with a hidden number claims a number, for which the login page shows a link code. */
export async function claimNumber(phone = newPhone(), address?: string) {
  const { linkCode } = (await requestOtp(phone, address)).body;
  const businessUserId = newBusinessUserId();
  await botCall('/api/bot/contacts', { businessUserId, linkCode });
  return {
    phone,
    businessUserId,
    linkCode: linkCode as string,
    otp: await newestCode(phone),
  };
}

const appSecret = 'the secret of the app';

/** What WhatsApp reports about the newest code on a phone. */
export async function reportStatus(phone: string, status: object): Promise<number> {
  const { id } = (await sandbox.messages(phone)).findLast(({ code }) => code) as { id: string };
  const statuses = [
    {
      id,
      timestamp: '1700000000',
      recipient_id: phone.slice(1),
      ...status,
    },
  ];
  const changes = [
    {
      field: 'messages',
      value: {
        messaging_product: 'whatsapp',
        statuses,
      },
    },
  ];
  const text = JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: '1', changes }],
  });
  const encoder = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(appSecret), algorithm, false, [
    'sign',
  ]);
  const signature = hex(await crypto.subtle.sign('HMAC', key, encoder.encode(text)));
  const headers = { 'x-hub-signature-256': `sha256=${signature}` };
  const settings = { WHATSAPP_APP_SECRET: appSecret };
  return (
    await call('POST', '/api/webhooks/whatsapp', {
      text,
      headers,
      settings,
    })
  ).status;
}

export const codeState = async ({ phone, challenge }: Code) =>
  (
    await call('POST', '/api/auth/code-state', {
      body: {
        phone,
        challenge,
      },
    })
  ).body.state;

/** Requests a code and reads it from the phone, with the challenge of its caller. */
export async function requestCode(
  phone: string,
  { address, settings }: Caller = {},
): Promise<Code> {
  const { body } = await requestOtp(phone, address, settings);
  return {
    phone,
    otp: await newestCode(phone),
    challenge: body.challenge,
  };
}

/** A code of a user who has just written, so that no earlier code limits it. */
export async function newCode(phone = newPhone(), caller?: Caller): Promise<Code> {
  await newContact(phone);
  return requestCode(phone, caller);
}

export const redeem = ({ phone, otp, challenge }: Try, caller: Caller = {}) =>
  call('POST', '/api/auth/verify-otp', {
    body: {
      phone,
      otp,
      challenge,
    },
    ...caller,
  });

export const verifyOtp = (phone: string, otp: string, address?: string) =>
  redeem({ phone, otp }, { address });

/** A wrong code. */
export const otherThan = (code: string) => (code === '000000' ? '000001' : '000000');

/** The first step of a change of the number. */
export const requestChange = (token: string, phone: string, address?: string) =>
  call('POST', '/api/user/phone', {
    token,
    address,
    body: { phone },
  });

/** Requests a change of the number, and waits for its code, which is sent after the response. */
export async function beginChange(
  token: string,
  phone = newPhone(),
  address?: string,
): Promise<Code> {
  const codes = async () => (await sandbox.messages(phone)).flatMap(({ code }) => code ?? []);
  const { length: before } = await codes();
  const { status, body } = await requestChange(token, phone, address);
  if (status !== 200) throw new Error(`The change was refused: ${JSON.stringify(body)}`);
  const sent = await until(`a code on ${phone}`, codes, ({ length }) => length > before);
  return { phone, otp: sent.at(-1)!, challenge: body.challenge };
}

export const verifyChange = (token: string, body: Code, address?: string) =>
  call('POST', '/api/user/phone/verify', { token, address, body });
