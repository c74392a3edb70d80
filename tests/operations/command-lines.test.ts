import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Ran, runApart, runHere } from './program-runs.ts';
import { ownEnvironment } from './test-product.ts';
import { fullUnless } from '../long-tours.ts';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>;
};
/** What the owner calls: a command of Solace's own that serves no test and no build. */
const commands = Object.keys(scripts).filter(
  (name) =>
    /worker\/operations\/|stripe-local|language-command/.test(scripts[name]!) &&
    !/^(?:build|types)/.test(name),
);

/** An empty value wins over the files of a machine that has settings: nothing here can reach a real service. */
const withoutSettings = {
  SITE_URL: '',
  TURSO_DATABASE_URL: '',
  STRIPE_SECRET_KEY: '',
  SESSION_KEYS: '',
};

/** By the real npm; words before `--` are npm's. */
function npmRun(line: string): Promise<Ran> {
  const [before = '', after] = line.split(' -- ');
  const words = [...before.split(' '), ...(after === undefined ? [] : ['--', ...split(after)])];
  return runApart('npm', ['--silent', 'run', ...words], environment());
}

/** What npm would run, without its start. */
function ownRun(line: string, more: Record<string, string> = {}): Promise<Ran> {
  const [name = '', after = ''] = line.split(' -- ');
  const [program = '', start = '', file = '', ...options] = scripts[name]!.split(' ');
  const words = [...options, ...split(after)];
  // The local Stripe goes on until its process ends.
  if (name === 'stripe:local') return runApart(program, [start, file, ...words], environment(more));
  return runHere(file, words, environment(more));
}

const environment = (more = {}) => ({
  ...ownEnvironment,
  ...withoutSettings,
  SUPPORT_AUDIT_FILE: '/dev/null',
  ...more,
});

/** At spaces, but not within quotes. */
const split = (words: string) =>
  [...words.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word);

const oneSentence = (problem: string) =>
  expect.stringMatching(new RegExp(`^[^\\n]*${problem}.*\\n$`));

describe.each(commands)('npm run %s', (name) => {
  async function expectRefusal(words: string): Promise<void> {
    const { code, stdout, stderr } = await ownRun(`${name} -- ${words}`);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`npm run ${name} -- `);
    expect(stderr).not.toContain('node:');
  }

  const isChosen = ['support', 'deploy'].includes(name);
  it(
    'refuses words that it does not know, and says how to call it',
    fullUnless(isChosen),
    async () => {
      const word =
        {
          query: "'select 1' ",
          alerts: 'list ',
          language: 'compile ',
        }[name] ?? '';
      const surplus = name === 'support' ? 'find +15551234567 garbage' : `${word}garbage garbage`;
      await expectRefusal(surplus);
    },
  );

  it('refuses options that it does not know', { tags: ['full'] }, () => expectRefusal('--garbage'));

  it('says its usage', { tags: ['full'] }, async () => {
    const { code, stdout, stderr } = await ownRun(`${name} -- --help`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`npm run ${name} -- `);
  });
});

it('walks every command of the owner', () => {
  for (const name of ['doctor', 'deploy', 'stripe:local', 'stripe:setup', 'after-restore'])
    expect(commands).toContain(name);
  for (const name of ['support', 'report', 'alerts', 'language', 'query'])
    expect(commands).toContain(name);
});

const isRefused = async (line: string, said: string) =>
  expect(await npmRun(line)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: oneSentence(said),
  });

it('refuses what npm has taken for itself: npm run after-restore --dry-run -- --at 2026-11-20T10:00:00Z', () =>
  isRefused('after-restore --dry-run -- --at 2026-11-20T10:00:00Z', '--dry-run .*behind `--`'));

it.each([
  ['deploy --env preview', '"preview".*behind `--`|--env.*behind `--`'],
  ['deploy --env=preview', '--env .*behind `--`'],
  ['deploy -- preview', '"preview" .*behind `--`'],
  ['deploy --dry-run', '--dry-run .*behind `--`'],
  ['deploy --paused', '--paused .*behind `--`'],
  ['deploy --without-contact', '--without-contact .*behind `--`'],
  ['doctor --env production', '--env .*behind `--`'],
  ['stripe:setup --env=preview', '--env .*behind `--`'],
  ['stripe:local --port=1', '--port behind `--`'],
  ['support --tier=basic -- trial +15551234567 --days 3', '--tier .*behind `--`'],
  ['alerts --data-source=x -- rules', '--data-source .*behind `--`'],
  ['after-restore --at=2026-11-20T10:00:00Z -- --dry-run', '--at .*behind `--`'],
])('refuses what npm has taken: npm run %s', { tags: ['full'] }, isRefused);

const vars = {
  TURSO_DATABASE_URL: 'http://127.0.0.1:1',
  TURSO_AUTH_TOKEN: 'x',
};

it.each([
  ['query', 'only reads'],
  ["query -- 'delete from users'", 'only reads.*in quotes'],
  ["query -- 'vacuum'", 'only reads'],
  ["query -- 'selec x'", 'only reads'],
  ['alerts -- list x', 'takes no other word'],
  ['language -- import es', 'npm run language'],
])('refuses as a wrong line: npm run %s', async (line, said) => {
  const ran = await ownRun(line, vars);
  expect(ran).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(said),
  });
});

it.each([
  ['report', 'SITE_URL, TURSO_DATABASE_URL'],
  ["query --  'select 1'", 'TURSO_DATABASE_URL'],
  ['stripe:setup', 'STRIPE_SECRET_KEY, SITE_URL'],
  ['support -- find +15551234567', 'SESSION_KEYS'],
  ['after-restore -- --at 2026-11-20T10:00:00Z', 'SESSION_KEYS'],
])('names the settings that are missing in production: npm run %s', async (line, missing) => {
  const words = line.includes(' -- ') ? line : `${line} -- `;
  const { code, stdout, stderr } = await ownRun(`${words} --env production`.replace(/ {2,}/g, ' '));
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(new RegExp(`${missing}.*\`npm run doctor -- --env production\``));
  expect(stderr).not.toMatch(/URL_INVALID|settings_invalid|\.dev\.vars/);
});

it.each([
  ["query -- 'select 1'", '^http://127.0.0.1:1 does not answer'],
  ['language -- import es missing.po', '^There is no file missing.po'],
])('fails in one sentence: npm run %s', async (line, said) => {
  const { code, stderr } = await ownRun(line, vars);
  expect(code).toBe(1);
  expect(stderr.split('\n').filter((each) => !each.startsWith('{'))).toEqual([
    expect.stringMatching(said),
    '',
  ]);
});
