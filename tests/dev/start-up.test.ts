import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { withoutNetwork } from '../product/machine.ts';
import { cloneTree, runProduct, surprises } from './live-clone.ts';
import { fullUnless } from '../long-tours.ts';

type Run = Awaited<ReturnType<typeof runProduct>>;

const clone = cloneTree();
afterAll(() => clone.remove());

/** Only a failure takes this long. */
const often = { timeout: 120_000, interval: 20 };
const becomes = (condition: () => boolean | Promise<boolean>) =>
  expect.poll(condition, often).toBe(true);
const responds = (url: string) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
const programsOf = (run: Run) =>
  run.processes().map((id) => ({
    id,
    line: readFileSync(`/proc/${id}/cmdline`, 'utf8'),
  }));
const runs = (run: Run, program: string) =>
  programsOf(run).some(({ line }) => line.includes(program));

/** How far a start has come. */
const moments: [string, (run: Run) => Promise<unknown>][] = [
  ['as its first process starts', (run) => becomes(() => runs(run, 'process-group.ts'))],
  ['when the local services respond', (run) => becomes(() => responds(run.sandboxUrl))],
  ['at its first line', (run) => run.said(/^Building and starting/)],
  ['when the Worker runs', (run) => becomes(() => runs(run, 'workerd'))],
];
/** What every `npm test` tries; the other moments are long tours. */
const [chosen] = moments[0]!;

describe.each(moments)('%s', (moment, comes) => {
  it('Ctrl-C ends all, without a word', fullUnless(moment === chosen), async () => {
    const run = await runProduct(clone);
    await comes(run);
    await run.interrupt();
    await expect.poll(() => run.processes(), often).toEqual([]);
    expect(surprises(run)).toEqual([]);
  });

  it('the end of the command by force leaves nothing behind', { tags: 'full' }, async () => {
    const run = await runProduct(clone);
    await comes(run);
    const commands = programsOf(run).filter(({ line }) =>
      /node\0.*tests\/product\/dev\.ts/.test(line),
    );
    process.kill(commands.at(-1)!.id, 'SIGKILL');
    await expect.poll(() => run.processes(), often).toEqual([]);
  });
});

/** How far `npm run preview` has come. */
const previewMoments: typeof moments = [
  ['while it builds', (run) => becomes(() => runs(run, 'build-languages.ts'))],
  ['while it serves', (run) => run.ready()],
];

describe.each(previewMoments)('npm run preview, %s', (_, comes) => {
  it('Ctrl-C ends all, without a word', { tags: 'full' }, async () => {
    const run = await runProduct({ ...clone, script: 'preview' });
    await comes(run);
    await run.interrupt();
    await expect.poll(() => run.processes(), often).toEqual([]);
    expect(surprises(run)).toEqual([]);
  });
});

const through = withoutNetwork();

const brokenOff = 'starts without a network, after starts that were broken off';
it.skipIf(!through)(brokenOff, { tags: 'full' }, async () => {
  const run = await runProduct({ ...clone, through: through! });
  await run.ready();
  expect(surprises(run)).toEqual([]);
  await run.interrupt();
  await expect.poll(() => run.processes(), often).toEqual([]);
  expect(existsSync(join(clone.folder, '.dev.vars'))).toBe(true);
});
