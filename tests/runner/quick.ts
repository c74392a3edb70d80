import { execFileSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { measureCapacity, planFor, apiSteps, newLogFolder, npmScript, runSteps } from './steps.ts';
import { stopSignal } from '../product/machine.ts';

/** The API tests of each part of the Worker, by the prefix of their file names. */
const testsOf: [path: RegExp, tests: string[]][] = [
  [/^worker\/(endpoints\/)?chat\b/, ['chat', 'referrals', 'voice']],
  [/^worker\/(sign-in|endpoints\/auth)\b/, ['claims', 'rate-limits', 'sign-in', 'sessions']],
  [/^worker\/trials\b/, ['plans']],
  [/^worker\/(usage|live|endpoints\/streams)\b/, ['usage']],
  [
    /^worker\/(accounts|endpoints\/user)\b/,
    ['accounts', 'identities', 'phone-change', 'sessions', 'retention'],
  ],
  [/^worker\/(billing|endpoints\/(billing|webhooks))\b/, ['billing', 'plans', 'renewals']],
  [/^worker\/(bot|endpoints\/bot)\b/, ['chat', 'outbox', 'usage']],
  [/^worker\/push\b/, ['push']],
  [/^worker\/(messaging|endpoints\/webhooks)\b/, ['languages', 'rate-limits', 'sign-in']],
  [
    /^worker\/(http|contract|lib|endpoints\/(index|service))\b/,
    ['http', 'outages', 'rate-limits', 'service'],
  ],
  [/^worker\/(scheduled|app|index|settings|env)\.ts$/, ['http', 'retention', 'secrets', 'service']],
  [/^drizzle\//, ['service']],
];

/** The API test files that a list of changed files touches: those that changed, and those of changed parts. */
export function touchedTests(changed: string[], tests: string[]): string[] {
  const parts = testsOf
    .filter(([path]) => changed.some((file) => path.test(file)))
    .flatMap(([, names]) => names);
  const isOf = (file: string, name: string) =>
    new RegExp(`^tests/api/${name}\\b.*\\.test\\.ts$`).test(file);
  return tests.filter((file) => changed.includes(file) || parts.some((name) => isOf(file, name)));
}

/** Every file that differs from the last commit, new files included. */
function changedFiles(): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
  return [
    ...git('diff', '--name-only', 'HEAD'),
    ...git('ls-files', '--others', '--exclude-standard'),
  ];
}

export const apiTests = () => globSync('tests/api/*.test.ts');

/** Runs types, lint, rules, and the API tests of the parts that differ from the last commit; returns whether all pass. */
async function runQuickTests(): Promise<boolean> {
  const stop = stopSignal('test:quick');
  const { together, apiShards } = planFor(await measureCapacity());
  const reporter = '--reporter=default';
  const touched = touchedTests(changedFiles(), apiTests());
  const api = apiSteps(Math.min(apiShards, touched.length), ...touched, reporter);
  const steps = [...api, npmScript('types'), npmScript('lint'), npmScript('test:rules', reporter)];
  const run = { together, logs: newLogFolder(), stop };
  // A fresh clone has no build, and an older build may lack new recipes.
  const isBuilt = existsSync('dist/web') && existsSync('web/routeTree.gen.ts');
  return (
    (await runSteps([npmScript(isBuilt ? 'build:styles' : 'build')], run)) && runSteps(steps, run)
  );
}

if (process.argv[1] === import.meta.filename) process.exit((await runQuickTests()) ? 0 : 1);
