import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { deployGradually, deployTo, readPlan } from '../../worker/operations/deploy/deployment.ts';
import type { Allowed } from '../../worker/operations/deploy/new-version.ts';
import { fine, wrong, type Finding } from '../../worker/operations/doctor/doctor-finding.ts';

const values = {
  SITE_URL: 'https://solace.example/',
  TURSO_DATABASE_URL: 'libsql://x',
  TURSO_AUTH_TOKEN: 't',
};

type Share = { version_id: string; percentage: number };
type World = {
  deployed?: Share[];
  /** What runs once Wrangler was told to deploy. */
  afterwards?: Share[];
  /** The calls of Wrangler that contain this fail, with this error. */
  failing?: string;
  error?: string;
  runChecks?: Finding;
  migration?: string;
  /** The look that fails, counted from 1. */
  badLook?: number;
};
const shares = (percentages: Record<string, number>): Share[] =>
  Object.entries(percentages).map(([version_id, percentage]) => ({
    version_id,
    percentage,
  }));
const all = (id: string) => shares({ [id]: 100 });
type Way = {
  parts?: number[];
  watchMs?: number;
  isGradual?: boolean;
  target?: 'preview' | 'production';
};

/** Deploys with stub tools that record their calls in order. */
async function deploy(
  world: World & Way = {},
  more: Record<string, string> = {},
  allowed: Allowed = {},
) {
  const {
    parts = [10, 50],
    watchMs = 0,
    isGradual = true,
    target = 'preview',
    runChecks = fine('All'),
  } = world;
  const { deployed = all('OLD'), failing = '-', error = 'refused', badLook } = world;
  let runs = deployed;
  const [steps, said] = [[] as string[], [] as string[]];
  /** The settings, the address of the contact form and the host that Wrangler gets. */
  const uploaded = new Set<string>();
  let [looks, waitedMs] = [0, 0];
  const tools = {
    runChecks: async (_, { mayBeBehind, isPaused }) => {
      steps.push(`check ${mayBeBehind}${isPaused ? ' while paused' : ''}`);
      return [runChecks];
    },
    migrate: async (url, token) => {
      steps.push(`migrate ${url} ${token}`);
      if (world.migration) throw new Error(world.migration);
    },
    wrangler: async (args, { env = {} } = {}) => {
      const at = args.indexOf('--env');
      const step = [...args.slice(0, at), args[at + 1]].join(' ');
      steps.push(step);
      const file = args[args.indexOf('--secrets-file') + 1]!;
      if (args.includes('--secrets-file'))
        Object.keys(JSON.parse(readFileSync(file, 'utf8'))).forEach((name) => uploaded.add(name));
      if (env['VITE_CONTACT_URL']) uploaded.add(env['VITE_CONTACT_URL']);
      if (args.includes('--domain')) uploaded.add(args[args.indexOf('--domain') + 1]!);
      const output = step.startsWith('deployments') ? JSON.stringify({ versions: runs }) : '';
      if (step.startsWith('deploy ')) runs = world.afterwards ?? runs;
      const version = { id: 'NEW', worker: 'solace' };
      return step.includes(failing)
        ? { ok: false, output: error, version: null }
        : { ok: true, output, version };
    },
    smoke: async ({ siteUrl, version, isPart = false }) => {
      steps.push(`look at ${siteUrl} for ${version?.id}${isPart ? ' of a part' : ''}`);
      looks += 1;
      return looks === badLook ? '/api/health answers 503' : null;
    },
    say: (line) => said.push(line),
    wait: async (ms) => void (waitedMs += ms),
  } satisfies Parameters<typeof deployGradually>[2];
  const settings = { ...values, CODE_PEPPER: 'pepper', ...more };
  const plan = { parts, watchMs, pauseMs: 30_000 };
  const done = isGradual
    ? await deployGradually(target, settings, tools, { plan, ...allowed })
    : await deployTo(target, settings, tools, allowed);
  const splits = steps.flatMap((step) => /^versions deploy (.*) preview$/.exec(step)?.[1] ?? []);
  return {
    done,
    steps,
    splits,
    uploaded,
    waitedMs,
    said: said.join('\n'),
  };
}

describe('a deployment', () => {
  const [status, look] = ['deployments status preview', 'look at https://solace.example for NEW'];
  const steps = ['check true', status, 'migrate libsql://x t', 'deploy preview', look];
  const back = /^Go back to OLD with: npx wrangler versions deploy OLD@100 --env preview --yes$/m;
  const deployToAll = (world: World & Way = {}, ...more: [Record<string, string>?, Allowed?]) =>
    deploy({ ...world, isGradual: false }, ...more);

  it('checks, migrates, deploys and looks, in this order', async () => {
    expect(await deployToAll()).toMatchObject({
      done: true,
      steps,
      uploaded: new Set([...Object.keys(values), 'CODE_PEPPER', 'solace.example']),
      said: expect.stringMatching(back),
    });
  });

  it('lets the checks know that the site is paused', async () => {
    expect((await deployToAll({}, {}, { isPaused: true })).steps[0]).toBe(
      'check true while paused',
    );
  });

  const migration = 'SQLITE_BUSY: database is locked';
  const onNew = { afterwards: all('NEW') };
  it.each<[what: string, world: World, then: string[], said: RegExp]>([
    ['the version before', {}, [status], /^Nothing was deployed; the version before runs on\.$/m],
    [
      'the new version',
      onNew,
      [status, look],
      /^✗ Wrangler failed, and NEW serves all users now\. /m,
    ],
    [
      'a bad new version',
      { ...onNew, badLook: 1 },
      [status, look],
      /^✗ \/api\/health answers 503$/m,
    ],
    [
      'nothing that is known',
      { afterwards: [] },
      [status],
      /^✗ Wrangler failed, and Cloudflare names no version/m,
    ],
  ])('says after a failure of Wrangler that the users get %s', async (_, world, then, expected) => {
    const {
      done,
      steps: seen,
      said,
    } = await deployToAll({
      ...world,
      failing: 'deploy preview',
    });
    expect({
      done,
      seen,
    }).toEqual({
      done: false,
      seen: [...steps.slice(0, 4), ...then],
    });
    expect(said).toMatch(expected);
    if (world.afterwards) expect(said).toMatch(back);
    expect(said.includes('Nothing was deployed')).toBe(!world.afterwards);
  });

  it.each([false, true])(
    'says after a failed migration that nothing was deployed (gradual: %s)',
    async (isGradual) => {
      const {
        done,
        steps: seen,
        said,
      } = await deploy({
        migration,
        isGradual,
      });
      expect({
        done,
        last: seen.at(-1),
      }).toEqual({
        done: false,
        last: 'migrate libsql://x t',
      });
      expect(said).toMatch(/^✗ The migration failed: SQLITE_BUSY: database is locked$/m);
      expect(said).toMatch(/Nothing was deployed; the version before runs on\..*$/);
    },
  );

  it('names all versions of an unfinished rollout as the way back, and none at the first deployment', async () => {
    const said = expect.stringContaining(
      'npx wrangler versions deploy V10@10 V90@90 --env preview --yes',
    );
    expect(
      await deployToAll({
        deployed: shares({ V10: 10, V90: 90 }),
        badLook: 1,
      }),
    ).toMatchObject({ steps, said });
    const first = await deployToAll({ deployed: [] });
    expect(first).toMatchObject({ done: true, steps });
    expect(first.said).not.toContain('versions deploy');
  });

  it.each<[what: string, world: World, count: number, said: RegExp]>([
    [
      'changes nothing when a check fails',
      { runChecks: wrong('X', 'is malformed', '') },
      1,
      /Nothing was changed\.$/,
    ],
    ['names the version to go back to when the new one does not serve', { badLook: 1 }, 5, back],
  ])('%s', async (_, world, count, said) => {
    expect(await deployToAll(world)).toMatchObject({
      done: false,
      steps: steps.slice(0, count),
      said: expect.stringMatching(said),
    });
  });

  it('to production needs CONTACT_URL, which the build gets, or the flag that lets it pass', async () => {
    const production = { target: 'production' } as const;
    const said = expect.stringContaining('--without-contact');
    expect(await deployToAll(production)).toMatchObject({
      done: false,
      steps: [],
      said,
    });
    const CONTACT_URL = 'https://forms.example';
    const { done, uploaded } = await deployToAll(production, { CONTACT_URL });
    expect({
      done,
      isBuiltIn: uploaded.has(CONTACT_URL),
    }).toEqual({
      done: true,
      isBuiltIn: true,
    });
    expect(await deployToAll(production, {}, { withoutContact: true })).toMatchObject({
      done: true,
    });
  });
});

describe('a gradual deployment', () => {
  it('uploads, migrates, deploys to growing parts of the users, looks after each step, and says the way back', async () => {
    const { done, steps, uploaded, said } = await deploy();
    expect(done).toBe(true);
    expect(uploaded).toContain('CODE_PEPPER');
    expect(steps).toEqual([
      'check true',
      'deployments status preview',
      'versions upload preview',
      'migrate libsql://x t',
      'versions deploy NEW@10 OLD@90 preview',
      'look at https://solace.example for NEW of a part',
      'versions deploy NEW@50 OLD@50 preview',
      'look at https://solace.example for NEW of a part',
      'versions deploy NEW@100 preview',
      'look at https://solace.example for NEW',
    ]);
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
    const { steps, waitedMs } = await deploy({
      parts: [10],
      watchMs: 120_000,
    });
    const looks = steps.filter((step) => step.startsWith('look')).length;
    expect({
      looks,
      waitedMs,
    }).toEqual({
      looks: 1 + 4 + 1,
      waitedMs: 120_000,
    });
  });

  const unhealthy = /^✗ \/api\/health answers 503\nAll users get the version before again: OLD\./m;
  it.each<[what: string, world: World & Way, splits: string[], said: RegExp]>([
    ['at the first part', { badLook: 1 }, ['NEW@10 OLD@90', 'OLD@100'], unhealthy],
    [
      'at the second part',
      { badLook: 2 },
      ['NEW@10 OLD@90', 'NEW@50 OLD@50', 'OLD@100'],
      unhealthy,
    ],
    [
      'when all have it',
      { badLook: 3 },
      ['NEW@10 OLD@90', 'NEW@50 OLD@50', 'NEW@100', 'OLD@100'],
      unhealthy,
    ],
    [
      'in a watch',
      { parts: [10], watchMs: 60_000, badLook: 3 },
      ['NEW@10 OLD@90', 'OLD@100'],
      unhealthy,
    ],
    [
      'at Wrangler',
      { failing: 'NEW@50' },
      ['NEW@10 OLD@90', 'NEW@50 OLD@50', 'OLD@100'],
      /accept the step to 50 %$/m,
    ],
  ])('goes back by itself when a step fails %s', async (_, world, expected, words) => {
    const { done, splits, said } = await deploy(world);
    expect({ done, splits }).toEqual({ done: false, splits: expected });
    expect(said).toMatch(words);
  });

  it('says loudly what to run when it cannot go back', async () => {
    const { done, said } = await deploy({
      badLook: 1,
      failing: 'OLD@100',
    });
    expect(done).toBe(false);
    expect(said).toMatch(
      /GOING BACK FAILED.*Run: npx wrangler versions deploy OLD@100 --env preview --yes$/,
    );
  });
});

const pending =
  'This Worker has a pending Durable Object migration, which cannot be applied by `wrangler versions upload`.';

it.each<[what: string, world: World, said: RegExp]>([
  [
    'is wrong for the doctor',
    { runChecks: wrong('APPROVAL', 'is malformed', 'Mend it.') },
    /Nothing was changed\./,
  ],
  [
    'has a new Durable Object migration',
    { failing: 'versions upload', error: pending },
    /new Durable Object migration.*Nothing was deployed\. .*npm run deploy -- --env preview$/,
  ],
  [
    'cannot be built',
    { failing: 'versions upload' },
    /Nothing was deployed; the present version runs on\.$/,
  ],
  ['is the first', { deployed: [] }, /Deploy the first one with: npm run deploy -- --env preview/],
  [
    'is unknown',
    { failing: 'deployments status' },
    /Deploy the first one with: npm run deploy -- --env preview/,
  ],
  [
    'meets an unfinished rollout',
    { deployed: shares({ A: 90, B: 10 }) },
    /An earlier rollout is unfinished: A has 90 %, B has 10 %\./,
  ],
])(
  'a gradual deployment changes nothing and says what to do if the version %s',
  async (_, world, expected) => {
    const { done, steps, said } = await deploy(world);
    expect(done).toBe(false);
    expect(steps.join()).not.toMatch(/migrate|versions deploy/);
    expect(said).toMatch(expected);
  },
);

describe('the flags', () => {
  it('give the steps and the time between them', () => {
    expect(readPlan({})).toBeNull();
    expect(readPlan({ gradual: true })).toEqual({
      parts: [10, 50],
      watchMs: 300_000,
      pauseMs: 30_000,
    });
    expect(
      readPlan({
        gradual: true,
        parts: '1,5,25',
        minutes: '0',
      }),
    ).toMatchObject({
      parts: [1, 5, 25],
      watchMs: 0,
    });
  });

  it.each([
    { gradual: true, parts: '50,10' },
    { gradual: true, parts: '10,100' },
    { gradual: true, parts: 'half' },
    { gradual: true, minutes: 'ten' },
    { parts: '5' },
    { gradual: true, paused: true },
  ])('refuse %o', (flags) => {
    expect(() => readPlan(flags)).toThrow(/--(parts|minutes|paused)/);
  });
});
