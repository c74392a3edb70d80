import { call } from './api.ts';
import { until } from './clock.ts';
import type { Code } from './codes.ts';
import { newPhone } from './contacts.ts';
import { sandbox } from './sandbox.ts';

/** The first step of a change of the number. */
export const requestChange = (token: string, phone: string, address?: string) =>
  call('POST', '/api/user/phone', { token, address, body: { phone } });

/** Requests a change of the number, and waits for its code, which is sent after the response. */
export async function beginChange(token: string, phone = newPhone(), address?: string): Promise<Code> {
  const codes = async () => (await sandbox.messages(phone)).flatMap(({ code }) => code ?? []);
  const { length: before } = await codes();
  const { body } = await requestChange(token, phone, address);
  const sent = await until(`a code on ${phone}`, codes, ({ length }) => length > before);
  return { phone, otp: sent.at(-1)!, challenge: body.challenge };
}

export const verifyChange = (token: string, body: Code, address?: string) =>
  call('POST', '/api/user/phone/verify', { token, address, body });
