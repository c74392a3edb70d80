import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { botCall, call } from './support/api.ts';
import { untilState, reply } from './support/chat.ts';
import { advanceClock, day, eventually } from './support/clock.ts';
import { database } from './support/database.ts';
import { deleteAccount, type Person } from './support/person.ts';
import { fetchRecording, newSpeaker, readBytes, recordingOf, sendRecording } from './support/recordings.ts';
import { liveUserOf } from './support/streams.ts';

/** The sizes of the recordings in a live object; null without the table. */
function sizesIn(token: string): Promise<number[] | null> {
  return runInDurableObject(liveUserOf(token), (_, { storage: { sql } }) => {
    if (sql.exec("select 1 from sqlite_master where name = 'recordings'").toArray().length === 0) return null;
    return sql
      .exec<{ size: number }>('select length(sealed) as size from recordings')
      .toArray()
      .map(({ size }) => size);
  });
}

/** Nonce and authentication tag. */
const overhead = 28;

async function withRecording(): Promise<Person & { id: string; bytes: Uint8Array }> {
  const person = await newSpeaker();
  const recording = recordingOf('audio/ogg', 3000);
  const { body } = await sendRecording(person.token, recording, { seconds: 5 });
  return { ...person, id: body.message.id, bytes: new Uint8Array(recording.bytes) };
}

describe('a recording', () => {
  it('is part of the export, as base64', async () => {
    const { phone, token, id, bytes } = await withRecording();
    await botCall('/api/bot/transcripts', { phone, id, text: 'What I said' });
    const voice = { type: 'audio/ogg', seconds: 2, data: btoa(String.fromCharCode(...bytes)) };
    await reply(phone, 'What Solace said', 'reply-1', { voice });
    const { status, headers, body } = await call('GET', '/api/user/export', { token });
    expect(status).toBe(200);
    expect(headers.get('content-disposition')).toMatch(/^attachment; /);
    expect(body.conversation.map(({ text }: { text: string }) => text)).toEqual(['What I said', 'What Solace said']);
    expect(body.recordings).toEqual([
      { id, author: 'user', type: 'audio/ogg', seconds: 5, data: voice.data },
      { id: 'reply-1', author: 'solace', ...voice },
    ]);
    const other = await newSpeaker();
    expect((await call('GET', '/api/user/export', { token: other.token })).body.recordings).toEqual([]);
  });

  it('is stored as ciphertext alone, in the live object alone', async () => {
    const { token, id, bytes } = await withRecording();
    await untilState(token, id, 'delivered');
    const stored = await runInDurableObject(liveUserOf(token), (_, { storage: { sql } }) => {
      const rows = sql.exec<{ sealed: ArrayBuffer }>('select sealed from recordings').toArray();
      return rows.map(({ sealed }) => [...new Uint8Array(sealed)]);
    });
    expect(stored.map(({ length }) => length)).toEqual([3000 + overhead]);
    // A part that no chance repeats.
    const part = bytes.slice(1000, 1016).join();
    expect(bytes.join()).toContain(part);
    expect(stored[0]!.join()).not.toContain(part);
    const { rows } = await database.execute("select name from sqlite_master where type = 'table'");
    const encoded = btoa(String.fromCharCode(...bytes.slice(999, 1029)));
    for (const name of rows.map((row) => row['name'] as string)) {
      const found = await database.execute(`select * from "${name}"`);
      expect(JSON.stringify(found.rows), name).not.toContain(encoded);
    }
  });

  it('cannot be read in the place of another', async () => {
    const { token, id, bytes } = await withRecording();
    const other = await sendRecording(token, recordingOf('audio/ogg', 3000));
    expect(await readBytes(await fetchRecording(token, id))).toEqual(bytes);
    await runInDurableObject(liveUserOf(token), (_, { storage: { sql } }) => {
      sql.exec('update recordings set sealed = (select sealed from recordings where seq = 1) where seq = 2');
    });
    expect((await fetchRecording(token, other.body.message.id)).status).toBe(500);
  });

  it('is erased with the conversation', async () => {
    const { token } = await withRecording();
    await call('DELETE', '/api/user/chat', { token });
    await eventually(async () => expect(await sizesIn(token)).toEqual([]));
  });

  it('is erased with the account', async () => {
    const { token } = await withRecording();
    expect((await deleteAccount(token)).status).toBe(200);
    await eventually(async () => expect(await sizesIn(token)).toBeNull());
  });

  it('is kept as long as messages are, and no longer', async () => {
    const { token } = await withRecording();
    expect(await sizesIn(token)).toEqual([3000 + overhead]);
    advanceClock(89 * day);
    const append = { id: 'new', author: 'user' as const, sealed: new ArrayBuffer(40), notAfter: Date.now() + 5000 };
    await runInDurableObject(liveUserOf(token), (object) =>
      object.append(0, { ...append, recording: new ArrayBuffer(9) }),
    );
    await runDurableObjectAlarm(liveUserOf(token));
    expect(await sizesIn(token)).toEqual([3000 + overhead, 9]);
    advanceClock(2 * day);
    await runDurableObjectAlarm(liveUserOf(token));
    expect(await sizesIn(token)).toEqual([9]);
  });
});
