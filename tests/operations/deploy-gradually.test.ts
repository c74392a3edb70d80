import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { experimental_getWranglerCommands } from 'wrangler';
import { deployGradually, readPlan } from '../../worker/operations/deploy/deployment.ts';
import { openWrangler } from '../../worker/operations/deploy/new-version.ts';
import { fine, wrong, type Finding } from '../../worker/operations/doctor/finding.ts';

const values = { SITE_URL: 'https://solace.example/', TURSO_DATABASE_URL: 'libsql://x', TURSO_AUTH_TOKEN: 't' };

/** A Wrangler of the test's own, run as a program like the real one: it notes its calls and does what `world` says. */
const fakeWrangler = `
const { appendFileSync, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const args = process.argv.slice(2);
const world = JSON.parse(readFileSync(join(__dirname, 'world.json'), 'utf8'));
const secrets = args.indexOf('--secrets-file');
if (secrets > 0) world.settings = Object.keys(JSON.parse(readFileSync(args[secrets + 1], 'utf8')));
const shown = args.filter((_, index) => secrets < 0 || (index !== secrets && index !== secrets + 1));
appendFileSync(join(__dirname, 'calls'), JSON.stringify({ args: shown, settings: world.settings }) + '\\n');
const fails = (world.failing || []).find((part) => shown.join(' ').includes(part));
if (fails) { console.error(world.error || 'refused'); process.exit(1); }
if (args[0] === 'deployments') console.log(JSON.stringify({ id: 'd1', versions: world.deployed }, null, 2));
if (args[1] === 'upload') writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH,
  '{"type":"wrangler-session","version":1}\\n{"type":"version-upload","version_id":"NEW","worker_name":"solace-preview"}\\n');
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'solace-wrangler-test-'));
  writeFileSync(join(folder, 'package.json'), '{}');
  writeFileSync(join(folder, 'wrangler.js'), fakeWrangler);
});
afterAll(() => rmSync(folder, { recursive: true }));

type World = {
  deployed?: { version_id: string; percentage: number }[];
  /** Calls that contain one of these fail. */
  failing?: string[];
  error?: string;
  runChecks?: Finding;
  /** The look that fails, counted from 1. */
  badLook?: number;
  parts?: number[];
  watchMs?: number;
};
type Call = { args: string[]; settings?: string[] };

async function rollOut({ runChecks, badLook, parts = [10, 50], watchMs = 0, ...world }: World = {}) {
  const deployed = world.deployed ?? [{ version_id: 'OLD', percentage: 100 }];
  writeFileSync(join(folder, 'world.json'), JSON.stringify({ ...world, deployed }));
  writeFileSync(join(folder, 'calls'), '');
  const said: string[] = [];
  const looks: string[] = [];
  let migrated = false;
  let waitedMs = 0;
  const done = await deployGradually(
    'preview',
    { ...values, CODE_PEPPER: 'pepper' },
    {
      runChecks: async () => [runChecks ?? fine('All')],
      migrate: async () => void (migrated = true),
      wrangler: openWrangler(join(folder, 'wrangler.js')),
      smoke: async ({ siteUrl, version, isPart }) => {
        looks.push(`${siteUrl} ${version?.worker} ${version?.id} ${isPart ? 'part' : 'all'}`);
        return looks.length === badLook ? '/api/health answers 503' : null;
      },
      say: (line) => said.push(line),
      wait: async (ms) => void (waitedMs += ms),
    },
    { plan: { parts, watchMs, pauseMs: 30_000 } },
  );
  const calls = readFileSync(join(folder, 'calls'), 'utf8').split('\n').filter(Boolean);
  const parsed = calls.map((line) => JSON.parse(line) as Call);
  const splits = parsed
    .filter(({ args }) => args[1] === 'deploy')
    .map(({ args }) => args.slice(2, args.indexOf('--env')).join(' '));
  return { done, calls: parsed, splits, looks, migrated, waitedMs, said: said.join('\n') };
}

describe('a gradual deployment', () => {
  it('uploads, migrates, deploys to growing parts of the users, looks after each step, and says the way back', async () => {
    const { done, calls, splits, looks, migrated, said } = await rollOut();
    expect({ done, migrated }).toEqual({ done: true, migrated: true });
    expect(calls[0]!.args).toEqual(['deployments', 'status', '--env', 'preview', '--json']);
    expect(calls[1]!.args.slice(0, 4)).toEqual(['versions', 'upload', '--env', 'preview']);
    expect(calls[1]!.settings).toContain('CODE_PEPPER');
    expect(splits).toEqual(['NEW@10 OLD@90', 'NEW@50 OLD@50', 'NEW@100']);
    const site = 'https://solace.example solace-preview NEW';
    expect(looks).toEqual([`${site} part`, `${site} part`, `${site} all`]);
    expect(said.split('\n')).toEqual([
      '✓ All',
      '✓ Version NEW is uploaded; nobody gets it yet',
      '✓ The database has the newest schema, on which the present version runs too',
      'If this command is interrupted, go back with: npx wrangler versions deploy OLD@100 --env preview --yes',
      '✓ 10 % of the users get the new version, and it is in order',
      '✓ 50 % of the users get the new version, and it is in order',
      '✓ https://solace.example serves NEW',
      'The version before is OLD. Go back to it with: npx wrangler versions deploy OLD@100 --env preview --yes',
    ]);
  });

  it('watches each part for as long as it was told', async () => {
    const { looks, waitedMs } = await rollOut({ parts: [10], watchMs: 120_000 });
    expect({ looks: looks.length, waitedMs }).toEqual({ looks: 1 + 4 + 1, waitedMs: 120_000 });
  });

  it.each([
    ['at the first part', { badLook: 1 }, ['NEW@10 OLD@90', 'OLD@100']],
    ['at the second part', { badLook: 2 }, ['NEW@10 OLD@90', 'NEW@50 OLD@50', 'OLD@100']],
    ['when everybody has it', { badLook: 3 }, ['NEW@10 OLD@90', 'NEW@50 OLD@50', 'NEW@100', 'OLD@100']],
    ['while a part is watched', { parts: [10], watchMs: 120_000, badLook: 3 }, ['NEW@10 OLD@90', 'OLD@100']],
  ])('goes back by itself when the check fails %s', async (_, world, expected) => {
    const { done, splits, said } = await rollOut(world);
    expect({ done, splits }).toEqual({ done: false, splits: expected });
    expect(said).toContain('✗ /api/health answers 503\nAll users get the version before again: OLD.');
  });

  it('says loudly what to run when it cannot go back', async () => {
    const { done, said } = await rollOut({ badLook: 1, failing: ['OLD@100 '] });
    expect(done).toBe(false);
    expect(said).toMatch(/GOING BACK FAILED.*Run: npx wrangler versions deploy OLD@100 --env preview --yes$/);
  });

  it('goes back when Cloudflare does not accept a step', async () => {
    const { splits, said } = await rollOut({ failing: ['NEW@50'] });
    expect(splits).toEqual(['NEW@10 OLD@90', 'NEW@50 OLD@50', 'OLD@100']);
    expect(said).toContain('did not accept the step to 50 %');
  });
});

describe('a gradual deployment that cannot begin', () => {
  const migration =
    'This Worker has a pending Durable Object migration, which cannot be applied by `wrangler versions upload`.';
  const parts = [
    { version_id: 'A', percentage: 90 },
    { version_id: 'B', percentage: 10 },
  ];

  it.each<[what: string, world: World, said: RegExp]>([
    ['is wrong for the doctor', { runChecks: wrong('APPROVAL', 'is malformed', 'Mend it.') }, /Nothing was changed\./],
    [
      'has a new Durable Object migration',
      { failing: ['versions upload'], error: migration },
      /new Durable Object migration.*Nothing was deployed\. .*npm run deploy -- --env preview$/,
    ],
    ['cannot be built', { failing: ['versions upload'] }, /Nothing was deployed; the present version runs on\.$/],
    ['is the first', { deployed: [] }, /Deploy the first one with: npm run deploy -- --env preview/],
    ['is unknown', { failing: ['deployments status'] }, /Deploy the first one with: npm run deploy -- --env preview/],
    ['meets an unfinished rollout', { deployed: parts }, /An earlier rollout is unfinished: A has 90 %, B has 10 %\./],
  ])('changes nothing and says what to do if the version %s', async (_, world, expected) => {
    const { done, splits, migrated, said } = await rollOut(world);
    expect({ done, splits, migrated }).toEqual({ done: false, splits: [], migrated: false });
    expect(said).toMatch(expected);
  });
});

describe('the flags', () => {
  it('give the steps and the time between them', () => {
    expect(readPlan({})).toBeNull();
    expect(readPlan({ gradual: true })).toEqual({ parts: [10, 50], watchMs: 300_000, pauseMs: 30_000 });
    expect(readPlan({ gradual: true, parts: '1,5,25', minutes: '0' })).toMatchObject({ parts: [1, 5, 25], watchMs: 0 });
  });

  it.each([
    { gradual: true, parts: '50,10' },
    { gradual: true, parts: '10,100' },
    { gradual: true, parts: 'half' },
    { gradual: true, minutes: 'ten' },
    { parts: '5' },
  ])('refuse %o', (flags) => {
    expect(() => readPlan(flags)).toThrow(/--(parts|minutes)/);
  });
});

it.each([
  ['versions', 'upload', ['env', 'secrets-file', 'message']],
  ['deployments', 'status', ['env', 'json']],
  ['versions', 'deploy', ['env', 'message', 'yes']],
])('uses flags that the installed Wrangler knows: %s %s %j', (area, verb, flags) => {
  const { registry, globalFlags } = experimental_getWranglerCommands();
  const command = registry.subtree.get(area)?.subtree.get(verb)?.definition;
  expect(command?.type).toBe('command');
  const known = { ...globalFlags, ...(command?.type === 'command' ? command.args : {}) };
  expect(Object.keys(known)).toEqual(expect.arrayContaining(flags));
});
