import { botCall, call, randomAddress, parallel } from './api.ts';
import { newestCode, sandbox } from './sandbox.ts';
import { advanceClock, second } from './clock.ts';

export type Person = { phone: string; address: string; token: string };

/** A unique number. */
export function newPhone(): string {
  const digits = crypto.getRandomValues(new Uint32Array(2));
  return `+1555${String(digits[0]! % 10_000).padStart(4, '0')}${String(digits[1]! % 1_000).padStart(3, '0')}`;
}

/** A user who has written to the assistant. */
export async function newContact(phone = newPhone()): Promise<{ phone: string; address: string }> {
  await botCall('/api/bot/contacts', { phone });
  return { phone, address: randomAddress() };
}

/** Requests a code and reads it from the phone. */
export async function receiveCode({ phone, address }: { phone: string; address: string }): Promise<string> {
  await call('POST', '/api/auth/request-otp', { body: { phone }, address });
  return newestCode(phone);
}

/** A signed-in user. */
export async function newPerson(phone = newPhone()): Promise<Person> {
  const contact = await newContact(phone);
  const otp = await receiveCode(contact);
  const { body } = await call('POST', '/api/auth/verify-otp', { body: { phone, otp }, address: contact.address });
  return { ...contact, token: body.token };
}

/** Another session of a number, by a token of the external issuer. */
export async function externalSession(phone: string): Promise<string> {
  const { token } = await sandbox.externalToken(phone);
  const { body } = await call('POST', '/api/auth/verify-external-token', { body: { token } });
  return body.token;
}

export const deleteAccount = (token: string) => call('DELETE', '/api/user/me', { token });

/** The user id in a session token. */
export const userOf = (token: string): string =>
  JSON.parse(atob(token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/'))).sub;

export const requestOtp = (phone: string, address = randomAddress()) =>
  call('POST', '/api/auth/request-otp', { body: { phone }, address });

export const verifyOtp = (phone: string, otp: string, address = randomAddress()) =>
  call('POST', '/api/auth/verify-otp', { body: { phone, otp }, address });

/** Four codes and twenty wrong tries: the number is limited for a day. Returns the last code. */
export async function tryTwentyTimes(contact: { phone: string; address: string }): Promise<string> {
  let otp = '';
  for (let round = 0; round < 4; round += 1) {
    otp = await receiveCode(contact);
    await parallel(5, () => verifyOtp(contact.phone, otherThan(otp), contact.address));
    advanceClock(31 * second);
  }
  return otp;
}

/** A wrong code. */
export const otherThan = (code: string) => (code === '000000' ? '000001' : '000000');
