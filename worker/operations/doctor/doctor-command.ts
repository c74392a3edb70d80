import { runChecks } from './run-checks.ts';
import { lineOf } from './finding.ts';
import { readCommand, runCommand } from '../target.ts';

/* `npm run doctor [-- --env preview|production]`: checks every setting and outside service; exit code 1 when one fails. */

await runCommand(async () => {
  const { target, values } = readCommand('local');
  const findings = await runChecks(values, { target });
  for (const finding of findings) process.stdout.write(`${lineOf(finding)}\n`);

  const failed = findings.filter(({ ok }) => !ok).length;
  const warnings = findings.filter((finding) => finding.ok && finding.warning).length;
  const summary = failed > 0 ? `${failed} of ${findings.length} checks failed.` : 'Every check passed.';
  process.stdout.write(`${summary}${warnings > 0 ? ` Warnings: ${warnings}.` : ''}\n`);
  return failed === 0;
});
