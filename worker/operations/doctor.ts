/* `npm run doctor [-- --env preview|production]`: checks every setting and outside service; exit code 1 when one fails. */
import { examine } from './examine.ts';
import { lineOf } from './finding.ts';
import { readCommand } from './target.ts';

const { target, values } = readCommand('local');
const findings = await examine(values, { target });
for (const finding of findings) process.stdout.write(`${lineOf(finding)}\n`);

const failed = findings.filter(({ ok }) => !ok).length;
process.stdout.write(failed > 0 ? `${failed} of ${findings.length} need mending.\n` : 'All is well.\n');
process.exitCode = failed > 0 ? 1 : 0;
