import { listDurableObjectIds, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import type { Env } from '../../worker/env.ts';
import type { LiveUser } from '../../worker/live/live-user.ts';
import { botCall, call } from './support/api.ts';
import { advanceClock, second } from './support/clock.ts';
import { newPerson, userOf } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';
import { OpenStream } from './support/stream.ts';

type Marked = LiveUser & { mark?: string };

const feeds = (env as unknown as Env).LIVE_USER;
const feedOf = (token: string) => feeds.getByName(userOf(token));

it('makes no Durable Object request for a usage post while no stream is open', async () => {
  const { phone, token } = await newPerson();
  await botCall('/api/bot/usage', { phone });
  const known = async () =>
    (await listDurableObjectIds(feeds)).some((id) => id.equals(feeds.idFromName(userOf(token))));
  await scheduler.wait(200);
  expect(await known()).toBe(false);
  const stream = await OpenStream.open(token);
  await stream.until(({ counts }) => counts.at(-1) === 1);
  expect(await known()).toBe(true);
  stream.close();
});

it('lets its Durable Object hibernate while it is idle, and still gets the next message', async () => {
  const { phone, token } = await newPerson();
  const stream = await OpenStream.open(token);
  await botCall('/api/bot/usage', { phone });
  await stream.until(({ counts }) => counts.at(-1) === 1);
  await runInDurableObject(feedOf(token), (feed: Marked) => {
    feed.mark = 'the same instance';
  });
  await scheduler.wait(12 * second);
  await botCall('/api/bot/usage', { phone });
  await stream.until(({ counts }) => counts.at(-1) === 2);
  const mark = await runInDurableObject(feedOf(token), (feed: Marked) => feed.mark);
  expect(mark).toBeUndefined();
  stream.close();
});

it('frees Worker and object when the reader disappears', async () => {
  const { token } = await newPerson();
  const streams = [await OpenStream.open(token), await OpenStream.open(token)];
  for (const stream of streams) await stream.until(({ counts }) => counts.length === 1);
  const sockets = () => runInDurableObject(feedOf(token), (_feed, state) => state.getWebSockets().length);
  expect(await sockets()).toBe(2);
  for (const stream of streams) stream.close();
  await scheduler.wait(second);
  expect(await sockets()).toBe(0);
});

it('shows 0 when the week ends while it is open, without any request', async () => {
  const { phone, token } = await newPerson();
  const { body } = await botCall('/api/bot/usage', { phone, count: 5 });
  advanceClock(Date.parse(body.resetsAt) - Date.now() - second);
  const stream = await OpenStream.open(token);
  await stream.until(({ counts }) => counts.at(-1) === 5);
  await sandbox.resetStats();
  advanceClock(2 * second);
  await stream.until(({ counts }) => counts.at(-1) === 0, 3000);
  expect((await sandbox.stats()).libsql).toBe(0);
  advanceClock(300 * second);
  await botCall('/api/bot/usage', { phone });
  await stream.until(({ counts }) => counts.at(-1) === 1);
  expect(stream.counts).toEqual([5, 0, 1]);
  stream.close();
  expect((await call('GET', '/api/user/me', { token })).body.profile.messagesUsedThisPeriod).toBe(1);
});
