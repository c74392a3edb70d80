import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { callJson } from '../product/machine.ts';
import { cloneTree, runProduct } from './live-clone.ts';
import { newNumber, signIn } from './open-site.ts';

/** Runs a program with a small disk of its own at a folder; null where that is not allowed. */
function withSmallDisk(folder: string): string[] | null {
  mkdirSync(folder, { recursive: true });
  const flags = ['--mount', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])];
  const mount = ['sh', '-c', `mount -t tmpfs -o size=24m solace "${folder}" && exec "$@"`, 'sh'];
  try {
    execFileSync('unshare', [...flags, ...mount, 'true'], { stdio: 'ignore' });
    return ['unshare', ...flags, ...mount];
  } catch {
    return null;
  }
}

type Chat = { messages: { author: string; text: string }[] };

/** Fills a disk to its last byte, and returns what frees it again. */
function fill(folder: string): () => void {
  const file = join(folder, 'filling');
  for (const size of [1_000_000, 10_000, 100])
    for (;;)
      try {
        writeFileSync(file, 'x'.repeat(size), { flag: 'a' });
      } catch {
        break;
      }
  return () => rmSync(file);
}

const title =
  'a disk that fills up is named, keeps what it has, and takes the rest once it has room';

it(title, { tags: 'full' }, async ({ skip }) => {
  const clone = cloneTree();
  onTestFinished(() => clone.remove());
  const state = join(clone.folder, '.wrangler/state');
  const through = withSmallDisk(state);
  if (!through) return skip('This machine allows no disk of its own.');

  const run = await runProduct({ ...clone, through });
  await run.ready();
  const token = await signIn(run, newNumber());
  const messages = `${run.siteUrl}/api/user/chat/messages`;
  const say = (text: string, id: string = crypto.randomUUID()) =>
    callJson('POST', messages, { id, text }, token);
  await say('before');

  const from = run.lines.length;
  const free = fill(`/proc/${run.pid}/root${state}`);
  const id = crypto.randomUUID();
  const refusal = await say('refused at first', id).catch((error: Error) => error.message);
  expect(refusal).toContain('responded 503: {"success":false,"code":"unavailable"');
  await run.said(/"reason":"The disk of the database is full\."/, from);

  free();
  await say('refused at first', id);
  const chat = `${run.siteUrl}/api/user/chat`;
  const { messages: kept } = await callJson<Chat>('GET', chat, undefined, token);
  const texts = kept.filter(({ author }) => author === 'user').map(({ text }) => text);
  expect(texts).toEqual(['before', 'refused at first']);
  await run.interrupt();
});
