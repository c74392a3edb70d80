import { describe, expect, it, vi } from 'vitest';
import { call } from './support/api.ts';
import { acceptedBy, newWriter, readChat, reply, untilReplied, write } from './support/chat.ts';
import { advanceClock, minute } from './support/clock.ts';
import { runCron } from './support/cron.ts';
import { OpenChat } from './support/open-chat.ts';
import { eventsAbout, sandbox } from './support/sandbox.ts';

describe('clearing', () => {
  it('empties the conversation everywhere; consent, seq and revision go on', async () => {
    const person = await newWriter();
    const { phone, token } = person;
    const stream = await OpenChat.open(token);
    await write(token, 'Hello');
    await untilReplied(person, 1);
    const before = await readChat(token);
    expect((await call('DELETE', '/api/user/chat', { token })).body).toEqual({ success: true });
    const after = await readChat(token);
    expect(after).toMatchObject({ messages: [], hasMore: false, consent: before.consent });
    expect(after.revision).toBe(before.revision + 1);
    await stream.until(({ events }) => events.some(({ type }) => type === 'cleared'));
    const { message } = (await write(token, 'A new beginning')).body;
    expect(message.seq).toBe(3);
    await stream.until(({ messages }) => messages.some(({ text }) => text === 'A new beginning'));
    await vi.waitFor(async () => expect(await eventsAbout(phone, 'chat.cleared')).toHaveLength(1));
    const late = await OpenChat.open(token, 1);
    await late.until(({ messages }) => messages.length > 0);
    expect(late.events[0]).toMatchObject({ id: String(after.revision), type: 'cleared' });
    expect(late.messages.map(({ text }) => text)).not.toContain('Hello');
    for (const each of [stream, late]) each.close();
  });

  it('refuses a reply to a message that was cleared, also when it comes again', async () => {
    const { phone, token } = await newWriter();
    await sandbox.botMode('silent');
    const { message } = (await write(token, 'Never mind')).body;
    await call('DELETE', '/api/user/chat', { token });
    const late = { replyTo: message.id };
    const refusal = { status: 409, body: { code: 'conflict', message: 'The person has cleared this message.' } };
    expect(await reply(phone, 'About that', 'late-1', late)).toMatchObject(refusal);
    expect(await reply(phone, 'About that', 'late-1', late)).toMatchObject(refusal);
    expect((await readChat(token)).messages).toEqual([]);
    await call('DELETE', '/api/user/chat', { token });
    expect(await reply(phone, 'About that', 'late-2', late)).toMatchObject(refusal);
    for (const accepted of [{}, { replyTo: 'wamid.elsewhere' }])
      expect(await reply(phone, 'By the way', undefined, accepted)).toMatchObject({ status: 200 });
    expect((await readChat(token)).messages.map(({ text }) => text)).toEqual(['By the way', 'By the way']);
  });

  it('stores no reply a second time that the person has cleared with its message', async () => {
    const { phone, token } = await newWriter();
    await sandbox.botMode('silent');
    const { message } = (await write(token, 'Hello')).body;
    const again = () => reply(phone, 'Hello to you', 'first', { replyTo: message.id });
    expect(await again()).toMatchObject({ status: 200 });
    await call('DELETE', '/api/user/chat', { token });
    expect(await again()).toMatchObject({ status: 409 });
    expect((await readChat(token)).messages).toEqual([]);
  });

  it('accepts a reply to a message that is sent again under its id after the clearing', async () => {
    const { phone, token } = await newWriter();
    await sandbox.botMode('silent');
    const { message } = (await write(token, 'Hello')).body;
    await call('DELETE', '/api/user/chat', { token });
    await write(token, 'Hello', message.id);
    expect(await reply(phone, 'Hello to you', 'first', { replyTo: message.id })).toMatchObject({ status: 200 });
  });

  it('withdraws the messages that wait for the bot', async () => {
    const { phone, token } = await newWriter();
    await vi.waitFor(async () => expect(await eventsAbout(phone, 'chat.consent')).toHaveLength(1));
    await sandbox.faults({ bot: { status: 503 } });
    await write(token, 'Never mind');
    await write(token, 'Nor this');
    await scheduler.wait(300);
    await call('DELETE', '/api/user/chat', { token });
    await sandbox.faults({ bot: null });
    advanceClock(5 * minute);
    await runCron();
    expect(await acceptedBy(phone)).toEqual([]);
    expect(await eventsAbout(phone, 'chat.cleared')).toHaveLength(1);
  });
});
