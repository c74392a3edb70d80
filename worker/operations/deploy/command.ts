/* `npm run deploy [-- --env preview|production] [--without-contact]`: checks, migrates, builds, deploys and tests the site. */
import { migrate } from '../../../drizzle/migrate.ts';
import { deployTo } from './deploy-to.ts';
import { runChecks } from '../doctor/run-checks.ts';
import { publish } from './upload-version.ts';
import { smoke } from './smoke-test.ts';
import { readCommand, runCommand, UsageError } from '../target.ts';

await runCommand(async () => {
  const { target, values, flags } = readCommand('production', { 'without-contact': { type: 'boolean' } });
  if (target === 'local') throw new UsageError('Deploy to preview or production; `npm run dev` serves this machine.');
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  const tools = { runChecks, migrate, publish, smoke: (siteUrl: string) => smoke(siteUrl), say };
  return deployTo(target, values, tools, flags['without-contact'] === true);
});
