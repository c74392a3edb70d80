import { describe, expect, it } from 'vitest';
import { botCall, randomAddress } from './support/api.ts';
import { advanceClock, minute, second } from './support/clock.ts';
import { parallel } from './support/parallel.ts';
import { newContact, newPhone, receiveCode } from './support/person.ts';
import { newestCode, sandbox } from './support/sandbox.ts';
import { otherThan, requestOtp, verifyOtp } from './support/sign-in.ts';

const reportContact = (phone: string, id?: string) => botCall('/api/bot/contacts', { phone }, id);

/** Four codes and twenty wrong tries from one address: the number is limited for a day. */
async function lockOut(phone: string): Promise<string> {
  const address = randomAddress();
  let otp = '';
  for (let round = 0; round < 4; round += 1) {
    otp = await receiveCode({ phone, address });
    await parallel(5, () => verifyOtp(phone, otherThan(otp), address));
    advanceClock(31 * second);
  }
  expect((await requestOtp(phone)).status).toBe(429);
  return otp;
}

describe('a contact that the bot reports', () => {
  it('clears the limits on codes and wrong tries, so the owner signs in at once', async () => {
    const { phone } = await newContact();
    await lockOut(phone);
    await reportContact(phone);
    expect(await requestOtp(phone)).toMatchObject({ status: 200, body: { success: true } });
    expect((await verifyOtp(phone, await newestCode(phone))).status).toBe(200);
  });

  it('clears the 30 seconds between two codes', async () => {
    const { phone } = await newContact();
    await requestOtp(phone);
    expect((await requestOtp(phone)).status).toBe(429);
    await reportContact(phone);
    expect((await requestOtp(phone)).status).toBe(200);
  });

  it('does not make an invalid code valid again', async () => {
    const { phone } = await newContact();
    const dead = await lockOut(phone);
    await reportContact(phone);
    expect(await verifyOtp(phone, dead)).toMatchObject({ status: 401, body: { code: 'invalid_code' } });
  });

  it('clears nothing when it is sent again under its id', async () => {
    const { phone } = await newContact();
    const id = crypto.randomUUID();
    await reportContact(phone, id);
    await lockOut(phone);
    expect((await reportContact(phone, id)).status).toBe(200);
    expect((await requestOtp(phone)).status).toBe(429);
  });

  it('clears the limits of its own number alone', async () => {
    const [victim, other] = [await newContact(), await newContact()];
    await requestOtp(victim.phone);
    await reportContact(other.phone);
    expect((await requestOtp(victim.phone)).status).toBe(429);
  });

  it('lets the owner sign in while fifty callers attack the number', async () => {
    const { phone } = await newContact();
    await lockOut(phone);
    await reportContact(phone);
    const owner = await requestOtp(phone);
    const otp = await newestCode(phone);
    const attack = parallel(50, (index) =>
      index % 2 ? requestOtp(phone, '198.51.100.7') : verifyOtp(phone, otherThan(otp), '198.51.100.8'),
    );
    await attack;
    expect(owner.status).toBe(200);
    await reportContact(phone);
    expect((await requestOtp(phone)).status).toBe(200);
    expect((await verifyOtp(phone, await newestCode(phone))).status).toBe(200);
  });
});

describe('the spelling of WhatsApp', () => {
  const digits = () => newPhone().slice(-7);

  it('is kept when a later report leaves it out, and codes go to that very id', async () => {
    const salt = digits();
    const [spelledByWhatsapp, dialled] = [`+5215530${salt}`.slice(0, 14), `+525530${salt}`.slice(0, 13)];
    await botCall('/api/bot/contacts', { phone: dialled, whatsappId: spelledByWhatsapp.slice(1) });
    await botCall('/api/bot/contacts', { phone: dialled });
    await requestOtp(dialled);
    expect(await sandbox.messages(spelledByWhatsapp)).toHaveLength(1);
    expect(await sandbox.messages(dialled)).toHaveLength(0);
  });

  it('follows a later report that names another one', async () => {
    const salt = digits();
    const [first, later] = [`+5411235${salt}`.slice(0, 13), `+54911235${salt}`.slice(0, 14)];
    await botCall('/api/bot/contacts', { phone: first, whatsappId: first.slice(1) });
    await botCall('/api/bot/contacts', { phone: first, whatsappId: later.slice(1) });
    await requestOtp(first);
    expect(await sandbox.messages(later)).toHaveLength(1);
    advanceClock(minute);
  });
});
