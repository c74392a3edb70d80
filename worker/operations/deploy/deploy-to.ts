import type { migrate } from '#db/migrate';
import type { runChecks } from '../doctor/run-checks.ts';
import type { Target, Values } from '../target.ts';
import { isReady, siteOf, type Look, publish, rollbackLine, type Wrangler } from './new-version.ts';

export type DeployTools = {
  runChecks: typeof runChecks;
  migrate: typeof migrate;
  wrangler: Wrangler;
  smoke: (look: Look) => Promise<string | null>;
  say: (line: string) => void;
};

/** Stops at the first failed step. Migrations only add, so the previous version runs on the new schema. */
export async function deployTo(
  target: Target,
  values: Values,
  tools: DeployTools,
  withoutContact = false,
): Promise<boolean> {
  const { say } = tools;
  if (!(await isReady(target, values, tools, withoutContact))) return stop(say, 'Nothing was changed.');

  await tools.migrate(values.TURSO_DATABASE_URL!, values.TURSO_AUTH_TOKEN ?? '');
  say('✓ The database has the newest schema');
  const { ok, version } = await publish(tools.wrangler, target, values);
  if (!ok) return stop(say, 'Nothing was deployed; the version before runs on.');

  const problem = await tools.smoke({ siteUrl: siteOf(values), version });
  if (problem) return stop(say, `✗ ${problem}\nGo back with: ${rollbackLine(target)}`);
  say(`✓ ${values.SITE_URL} serves the new version`);
  return true;
}

function stop(say: DeployTools['say'], line: string): false {
  say(line);
  return false;
}
