import type { migrate } from '../../../drizzle/migrate.ts';
import type { runChecks } from '../doctor/run-checks.ts';
import { lineOf } from '../doctor/finding.ts';
import { rollbackLine, type publish } from './upload-version.ts';
import type { smoke } from './smoke-test.ts';
import type { Target, Values } from '../target.ts';

type Tools = {
  runChecks: typeof runChecks;
  migrate: typeof migrate;
  publish: typeof publish;
  smoke: (siteUrl: string) => ReturnType<typeof smoke>;
  say: (line: string) => void;
};

/**
 * Checks, migrates, deploys and tests the deployed site; stops at the first failed step. Migrations only add, so the
 * previous version runs on the new schema.
 */
export async function deployTo(target: Target, values: Values, tools: Tools, withoutContact = false): Promise<boolean> {
  const { say } = tools;
  if (target === 'production' && !values['CONTACT_URL'] && !withoutContact) {
    say('✗ CONTACT_URL is missing: messages from the contact form would go nowhere. Set it, or say --without-contact.');
    return stop(say, 'Nothing was changed.');
  }
  const findings = await tools.runChecks(values, { target, mayBeBehind: true });
  for (const finding of findings) say(lineOf(finding));
  if (findings.some(({ ok }) => !ok)) return stop(say, 'Nothing was changed.');

  await tools.migrate(values.TURSO_DATABASE_URL!, values.TURSO_AUTH_TOKEN ?? '');
  say('✓ The database has the newest schema');
  if (!(await tools.publish(target, values))) return stop(say, 'Nothing was deployed; the version before runs on.');

  const trouble = await tools.smoke(values.SITE_URL!.replace(/\/+$/, ''));
  if (trouble) return stop(say, `✗ ${trouble}\nGo back with: ${rollbackLine(target)}`);
  say(`✓ ${values.SITE_URL} serves the new version`);
  return true;
}

function stop(say: Tools['say'], line: string): false {
  say(line);
  return false;
}
