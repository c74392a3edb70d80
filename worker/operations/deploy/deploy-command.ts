import { setTimeout as wait } from 'node:timers/promises';
import { migrate } from '#db/migrate';
import { runChecks } from '../doctor/run-checks.ts';
import { runCommand, UsageError } from '../command-line.ts';
import { readCommand } from '../owner-command.ts';
import { deployGradually, readPlan, deployTo } from './deployment.ts';
import { smoke, openWrangler } from './new-version.ts';

/*
 * `npm run deploy [-- --env preview|production] [--without-contact] [--paused]`: checks, migrates, builds, deploys and tests the site.
 * With `--gradual [--parts 10,50] [--minutes 5]` the new version reaches a part of the users first.
 */

const usage =
  'npm run deploy -- [--env preview|production] [--without-contact] [--paused] [--gradual [--parts 10,50] [--minutes 5]]';
const options = {
  'without-contact': { type: 'boolean' },
  paused: { type: 'boolean' },
  gradual: { type: 'boolean' },
  parts: { type: 'string' },
  minutes: { type: 'string' },
} as const;

await runCommand(async () => {
  const { target, values, flags } = readCommand('production', {
    usage,
    options,
  });
  if (target === 'local')
    throw new UsageError('Deploy to preview or production; `npm run dev` serves this machine.');
  const plan = readPlan(flags);
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  const tools = {
    runChecks,
    migrate,
    wrangler: openWrangler(),
    smoke: (look: Parameters<typeof smoke>[0]) => smoke(look),
    say,
    wait,
  };
  const allowed = {
    withoutContact: flags['without-contact'] === true,
    isPaused: flags['paused'] === true,
  };
  return plan
    ? deployGradually(target, values, tools, { plan, ...allowed })
    : deployTo(target, values, tools, allowed);
});
