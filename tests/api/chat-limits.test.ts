import { describe, expect, it } from 'vitest';
import { botCall } from './support/api.ts';
import { newWriter, readChat, reply, untilReplied, write } from './support/chat.ts';
import { advanceClock, day, minute } from './support/clock.ts';
import { parallel } from './support/parallel.ts';
import { sandbox } from './support/sandbox.ts';

describe('limits', () => {
  it('are twenty messages a minute, and a replay is no message', async () => {
    const { token } = await newWriter();
    const settings = { CHAT_MESSAGES_WAITING: '100' };
    const ids = Array.from({ length: 25 }, () => crypto.randomUUID());
    await parallel(50, (index) => write(token, 'Hello', ids[index % 25], settings));
    const { messages } = await readChat(token, '?limit=50');
    expect(messages.filter(({ author }) => author === 'user')).toHaveLength(20);
    const refused = await write(token, 'One more', undefined, settings);
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const known = messages.find(({ author }) => author === 'user')!;
    expect((await write(token, 'Hello', known.id, settings)).body.message.seq).toBe(known.seq);
    advanceClock(minute);
    expect((await write(token, 'A minute later', undefined, settings)).status).toBe(200);
  });

  it('are five messages that wait for the bot', async () => {
    const { token } = await newWriter();
    await sandbox.faults({ bot: { status: 503 } });
    const answers = await parallel(50, () => write(token, 'Are you there?'));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(45);
    const sent = answers.find(({ status }) => status === 200)!.body.message;
    expect((await write(token, 'Are you there?', sent.id)).body.message.id).toBe(sent.id);
  });

  it('are the allowance of the week, but for a day after a crisis', async () => {
    const person = await newWriter();
    const { phone, token } = person;
    const known = (await write(token, 'Hello')).body.message;
    await untilReplied(person, 1);
    await botCall('/api/bot/usage', { phone, count: 4 });
    const refused = await write(token, 'One more');
    expect(refused).toMatchObject({
      status: 403,
      body: { code: 'allowance_spent', message: "You have used this week's messages.", used: 5, limit: 5 },
    });
    expect(Date.parse(refused.body.resetsAt)).toBeGreaterThan(Date.now());
    expect((await write(token, 'Hello', known.id)).body.message).toMatchObject({ id: known.id, state: 'delivered' });
    await reply(phone, 'Please call somebody.', 'crisis-1', { crisis: true });
    expect((await write(token, 'I will')).status).toBe(200);
    advanceClock(day + minute);
    expect((await write(token, 'One more')).body.code).toBe('allowance_spent');
  });
});
