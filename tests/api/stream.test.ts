import { describe, expect, it } from 'vitest';
import { botCall, call } from './support/api.ts';
import { parallel } from './support/parallel.ts';
import { externalSession, newPerson } from './support/person.ts';
import { OpenStream } from './support/stream.ts';

const post = (phone: string, count = 1) => botCall('/api/bot/usage', { phone, count });
const ticketOf = async (token: string) =>
  (await call('POST', '/api/user/stream-ticket', { token })).body.ticket as string;

describe('the usage stream', () => {
  it('sends connection_established, then the current count, then each change', async () => {
    const { phone, token } = await newPerson();
    await post(phone, 2);
    const stream = await OpenStream.open(await ticketOf(token));
    await stream.until(({ counts }) => counts.length === 1);
    const { profile } = (await call('GET', '/api/user/me', { token })).body;
    expect(stream.events[0]).toMatchObject({ event: 'connection_established' });
    expect(JSON.parse(stream.events[0]?.data ?? '')).toEqual({ type: 'connection_established', profile });
    expect(stream.counts).toEqual([2]);
    await post(phone);
    await stream.until(({ counts }) => counts.at(-1) === 3);
    stream.close();
  });

  it('reaches every tab, and takes a session token as well as a ticket', async () => {
    const { phone, token } = await newPerson();
    const tabs = [await OpenStream.open(token), await OpenStream.open(await ticketOf(token))];
    await post(phone);
    for (const tab of tabs) await tab.until(({ counts }) => counts.at(-1) === 1);
    for (const tab of tabs) tab.close();
  });

  it('never goes back under parallel posts and ends at the total', async () => {
    const { phone, token } = await newPerson();
    const stream = await OpenStream.open(token);
    await parallel(50, () => post(phone));
    await stream.until(({ counts }) => counts.at(-1) === 5);
    expect(stream.counts).toEqual(stream.counts.toSorted((a, b) => a - b));
    stream.close();
  });

  it('ends with its session, and with all sessions', async () => {
    const { token } = await newPerson();
    const stream = await OpenStream.open(token);
    await stream.until(({ counts }) => counts.length === 1);
    expect((await call('POST', '/api/auth/logout', { token })).body).toEqual({ success: true });
    await stream.until(({ ended }) => ended);
    expect((await OpenStream.open(token)).status).toBe(401);
    expect((await call('GET', '/api/user/me', { token })).status).toBe(401);
  });

  it('stays open when another session of the user ends, and ends when all do', async () => {
    const { phone, token } = await newPerson();
    const others = [await externalSession(phone), await externalSession(phone)];
    const stream = await OpenStream.open(token);
    await stream.until(({ counts }) => counts.length === 1);
    await call('POST', '/api/auth/logout', { token: others[0] });
    await post(phone);
    await stream.until(({ counts }) => counts.at(-1) === 1);
    expect(stream.ended).toBe(false);
    await call('POST', '/api/auth/logout', { token: others[1], body: { everywhere: true } });
    await stream.until(({ ended }) => ended);
    expect((await call('GET', '/api/user/me', { token })).status).toBe(401);
  });

  it('refuses without a token, with a forged one, and with a ticket of an ended session', async () => {
    const { token } = await newPerson();
    const ticket = await ticketOf(token);
    await call('POST', '/api/auth/logout', { token });
    const answers = [
      await call('GET', '/api/user/usage-stream'),
      await call('GET', '/api/user/usage-stream?token=a.b.c'),
      await call('GET', `/api/user/usage-stream?token=${ticket}`),
    ];
    for (const { status, body } of answers)
      expect({ status, success: body.success }).toEqual({ status: 401, success: false });
  });

  it('does not let a ticket do anything else', async () => {
    const { token } = await newPerson();
    expect((await call('GET', '/api/user/me', { token: await ticketOf(token) })).status).toBe(401);
  });
});
