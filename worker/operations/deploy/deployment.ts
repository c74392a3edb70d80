import type { migrate } from '#db/migrate';
import type { runChecks } from '../doctor/run-checks.ts';
import { callerSecretsIn, type CallerSecrets } from '../doctor/signed-calls.ts';
import { UsageError } from '../command-line.ts';
import type { Target, Values } from '../owner-command.ts';
import {
  type Allowed,
  isReady,
  siteOf,
  type Look,
  publishVersion,
  type Wrangler,
  upload,
  type Version,
} from './new-version.ts';

export type DeployTools = {
  runChecks: typeof runChecks;
  migrate: typeof migrate;
  wrangler: Wrangler;
  smoke: (look: Look) => Promise<string | null>;
  say: (line: string) => void;
};

/**
 * Stops at the first failed step. Migrations only add,
 * so the previous version runs on the new schema.
 */
export async function deployTo(
  target: Target,
  values: Values,
  tools: DeployTools,
  allowed: Allowed = {},
): Promise<boolean> {
  const { say } = tools;
  if (!(await isReady(target, values, tools, allowed))) return stop(say, 'Nothing was changed.');
  const before = await servingVersions(target, tools);

  if (!(await isMigrated(values, tools))) return false;
  say('✓ The database has the newest schema');
  const { ok, version } = await publishVersion(tools.wrangler, target, values);
  const serving = ok ? version : await servingAfterFailure(target, before, tools);
  if (!ok && !serving) return false;

  const secrets = callerSecretsIn(values);
  const problem = await tools.smoke({
    siteUrl: siteOf(values),
    version: serving,
    secrets,
  });
  say(problem ? `✗ ${problem}` : `✓ ${values.SITE_URL} serves the new version`);
  say(wayBack(target, before));
  return ok && !problem;
}

/**
 * Wrangler sets the domain and the cron triggers after it
 * has deployed the version: a failure there is no rollback.
 */
async function servingAfterFailure(
  target: Target,
  before: Share[],
  tools: DeployTools,
): Promise<Version | null> {
  const { say } = tools;
  const now = await servingVersions(target, tools);
  const newest = now.find(({ version_id: id }) => !before.some((old) => old.version_id === id));
  if (newest) {
    say(`✗ Wrangler failed, and ${newest.version_id} serves all users now. \
Its domain or cron triggers may be missing: correct what Wrangler names and deploy again, or go back.`);
    return { id: newest.version_id, worker: '' };
  }
  if (now.length > 0) say('Nothing was deployed; the version before runs on.');
  else
    say(
      `✗ Wrangler failed, and Cloudflare names no version that runs.\n${wayBack(target, before)}`,
    );
  return null;
}

async function isMigrated(values: Values, { migrate, say }: DeployTools): Promise<boolean> {
  try {
    await migrate(values.TURSO_DATABASE_URL!, values.TURSO_AUTH_TOKEN ?? '');
    return true;
  } catch (error) {
    say(`✗ The migration failed: ${error instanceof Error ? error.message : String(error)}`);
    return stop(
      say,
      'Nothing was deployed; the version before runs on. Repeating the command applies what is missing.',
    );
  }
}

export type GradualPlan = {
  parts: number[];
  watchMs: number;
  pauseMs: number;
};

type Tools = DeployTools & { wait: (ms: number) => Promise<unknown> };
type Rollout = {
  target: Target;
  siteUrl: string;
  secrets: CallerSecrets | null;
  present: string;
  next: Version;
  plan: GradualPlan;
};

/**
 * Deploys a version to growing parts of the users;
 * after a bad step, all get the version before again.
 */
export async function deployGradually(
  target: Target,
  values: Values,
  tools: Tools,
  { plan, ...allowed }: { plan: GradualPlan } & Allowed,
): Promise<boolean> {
  const { say } = tools;
  if (!(await isReady(target, values, tools, allowed))) return stop(say, 'Nothing was changed.');
  const present = await presentVersion(target, tools);
  if (!present) return stop(say, 'Nothing was changed.');

  const uploaded = await upload(tools.wrangler, target, values);
  if (!uploaded.ok || !uploaded.version) return stop(say, uploadTrouble(uploaded.output, target));
  const next = uploaded.version;
  say(`✓ Version ${next.id} is uploaded; nobody gets it yet`);

  if (!(await isMigrated(values, tools))) return false;
  say('✓ The database has the newest schema, on which the present version runs too');
  say(`If this command is interrupted, go back with: ${backLine(target, present)}`);
  const secrets = callerSecretsIn(values);
  return rollOut(
    {
      target,
      siteUrl: siteOf(values),
      secrets,
      present,
      next,
      plan,
    },
    tools,
  );
}

async function rollOut(rollout: Rollout, tools: Tools): Promise<boolean> {
  const { present, next, plan, siteUrl } = rollout;
  for (const part of [...plan.parts, 100]) {
    const problem = await takeStep(rollout, part, tools);
    if (problem) return goBack(rollout, problem, tools);
    tools.say(
      part < 100
        ? `✓ ${part} % of the users get the new version, and it is in order`
        : `✓ ${siteUrl} serves ${next.id}`,
    );
  }
  tools.say(
    `The version before is ${present}. Go back to it with: ${backLine(rollout.target, present)}`,
  );
  return true;
}

async function takeStep(rollout: Rollout, part: number, tools: Tools): Promise<string | null> {
  const { present, next, plan, siteUrl, secrets } = rollout;
  const split =
    part < 100 ? [`${next.id}@${part}`, `${present}@${100 - part}`] : [`${next.id}@100`];
  if (!(await deploySplit(rollout.target, split, `${part} % of the users`, tools)))
    return `Cloudflare did not accept the step to ${part} %`;
  const look = {
    siteUrl,
    version: next,
    isPart: part < 100,
    secrets,
  };
  const problem = await tools.smoke(look);
  return problem || part === 100 ? problem : watch(tools, plan, () => tools.smoke(look));
}

async function watch(
  tools: Tools,
  { watchMs, pauseMs }: GradualPlan,
  look: () => Promise<string | null>,
) {
  if (watchMs > 0)
    tools.say(
      `  Watching it for ${Math.round(watchMs / 60_000)} minutes. Watch the log too: request_failed`,
    );
  for (let waitedMs = 0; waitedMs < watchMs; waitedMs += pauseMs) {
    await tools.wait(pauseMs);
    const problem = await look();
    if (problem) return problem;
  }
  return null;
}

async function goBack({ target, present }: Rollout, problem: string, tools: Tools): Promise<false> {
  tools.say(`✗ ${problem}`);
  if (await deploySplit(target, [`${present}@100`], 'Back to the version before', tools))
    return stop(
      tools.say,
      `All users get the version before again: ${present}. The database keeps its new schema.`,
    );
  return stop(
    tools.say,
    `✗ GOING BACK FAILED: a part of the users still gets the new version. Run: ${backLine(target, present)}`,
  );
}

async function deploySplit(
  target: Target,
  split: string[],
  message: string,
  { wrangler }: Tools,
): Promise<boolean> {
  const { ok } = await wrangler([
    'versions',
    'deploy',
    ...split,
    '--env',
    target,
    '--message',
    message,
    '--yes',
  ]);
  return ok;
}

type Share = { version_id: string; percentage: number };

async function servingVersions(target: Target, { wrangler }: DeployTools): Promise<Share[]> {
  const { ok, output } = await wrangler(['deployments', 'status', '--env', target, '--json'], {
    isQuiet: true,
  });
  return ok ? versionsIn(output) : [];
}

/**
 * The one version that all users get, or null: a
 * part of the users needs a version before it.
 */
async function presentVersion(target: Target, tools: Tools): Promise<string | null> {
  const { say } = tools;
  const versions = await servingVersions(target, tools);
  if (versions.length === 1) return versions[0]!.version_id;
  if (versions.length === 0) {
    say(
      `✗ Cloudflare names no version that runs in ${target}. Deploy the first one with: npm run deploy -- --env ${target}`,
    );
    return null;
  }
  const shares = versions
    .map(({ version_id: id, percentage }) => `${id} has ${percentage} %`)
    .join(', ');
  say(
    `✗ An earlier rollout is unfinished: ${shares}. Give one of them to all: ${backLine(target, 'VERSION')}`,
  );
  return null;
}

function versionsIn(output: string): Share[] {
  try {
    const text = output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1);
    return (JSON.parse(text) as { versions?: Share[] }).versions ?? [];
  } catch {
    return [];
  }
}

function uploadTrouble(output: string, target: Target): string {
  if (!/pending Durable Object migration/i.test(output))
    return 'Nothing was deployed; the present version runs on.';
  return `✗ wrangler.toml has a new Durable Object migration, which cannot reach a part of the users. Nothing was deployed. \
Deploy it to everybody with: npm run deploy -- --env ${target}`;
}

function backLine(target: Target, version: string): string {
  return splitLine(target, [{ version_id: version, percentage: 100 }]);
}

function splitLine(target: Target, split: Share[]): string {
  const shares = split.map(({ version_id: id, percentage }) => `${id}@${percentage}`).join(' ');
  return `npx wrangler versions deploy ${shares} --env ${target} --yes`;
}

function wayBack(target: Target, before: Share[]): string {
  if (before.length === 0) return 'Cloudflare named no version that ran before.';
  const ids = before.map(({ version_id: id }) => id).join(' and ');
  return `Go back to ${ids} with: ${splitLine(target, before)}
If the site was paused, this pauses it again. The versions before: npx wrangler deployments list --env ${target}`;
}

function stop(say: Tools['say'], line: string): false {
  say(line);
  return false;
}

type PlanFlags = Record<string, string | boolean | undefined>;

/**
 * The steps that the flags ask for, or null for a
 * deployment to everybody at once. Throws a `UsageError`.
 */
export function readPlan({
  gradual,
  paused,
  parts = '10,50',
  minutes = '5',
}: PlanFlags): GradualPlan | null {
  if (gradual && paused)
    throw new UsageError('--paused goes without --gradual: nobody gets the version before.');

  if (!gradual) {
    if (parts !== '10,50' || minutes !== '5')
      throw new UsageError('--parts and --minutes go with --gradual.');
    return null;
  }

  const numbers = String(parts).split(',').map(Number);
  const grow = numbers.every((part, index) => part > (numbers[index - 1] ?? 0) && part < 100);
  if (!grow)
    throw new UsageError('--parts takes growing percentages between 0 and 100, such as 10,50.');

  if (!/^\d{1,3}$/.test(String(minutes)))
    throw new UsageError('--minutes takes a whole number from 0 to 999.');

  return {
    parts: numbers,
    watchMs: Number(minutes) * 60_000,
    pauseMs: 30_000,
  };
}
