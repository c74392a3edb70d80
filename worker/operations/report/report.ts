import { Console } from 'node:console';
import { readFileSync } from 'node:fs';
import { httpRequest } from '../doctor/doctor-finding.ts';
import { runCommand } from '../command-line.ts';
import { readCommand, requireTargetSettings } from '../owner-command.ts';
import { openReader } from './read-database.ts';

/* `npm run report [-- --env preview|production]`: the runbook's questions with the database's answers, on one page. */

const usage = 'npm run report -- [--env preview|production]';
const healthRequests = 5;

async function printReport(): Promise<boolean> {
  const { target, values } = readCommand('local', { usage });
  requireTargetSettings(target, values, ['SITE_URL', 'TURSO_DATABASE_URL', 'TURSO_AUTH_TOKEN']);
  const { SITE_URL = '' } = values;
  const read = openReader(target, values);

  const out = new Console(process.stdout);
  out.log(`Solace, ${target}, ${new Date().toISOString()}`);

  for (const { question, queries } of [
    ...readQuestions(),
    ...readQuestions('The year in numbers'),
  ]) {
    out.log(`\n${question}`);
    for (const query of queries) {
      const rows = await read(query);
      if (rows.length > 0) out.table(rows.map((row) => ({ ...row })));
      else out.log('Nothing.');
    }
    if (queries.length === 0)
      out.log('The log answers this: see "The five questions" in worker/docs/runbook.md.');
  }

  out.log(`\n${SITE_URL}/api/health`);
  return healthIn(`${SITE_URL.replace(/\/+$/, '')}/api/health`, out);
}

async function healthIn(url: string, out: Console): Promise<boolean> {
  const results: { status: number | string; ms: number }[] = [];
  for (let request = 0; request < healthRequests; request += 1) {
    const startedAt = performance.now();
    const response = await httpRequest(url);
    const status = 'failure' in response ? response.failure : response.status;
    if (!('failure' in response)) await response.body?.cancel();
    results.push({ status, ms: Math.round(performance.now() - startedAt) });
  }
  out.table(results);
  return results.every(({ status }) => status === 200);
}

const runbook = new URL('../../docs/runbook.md', import.meta.url);

export type Question = { question: string; queries: string[] };

/**
 * The questions of a section of the runbook, with
 * the SQL of those that the database can answer.
 */
export function readQuestions(
  title = 'The five questions',
  text = readFileSync(runbook, 'utf8'),
): Question[] {
  const section = new RegExp(`^## ${title}$([\\s\\S]*?)(?=^## )`, 'm').exec(text)?.[1] ?? '';
  return section
    .split(/^\*\*(?=[^*]+\?\*\*)/m)
    .slice(1)
    .map((part) => ({
      question: part.slice(0, part.indexOf('**')),
      queries: [...part.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, query = '']) => query.trim()),
    }));
}

if (process.argv[1] === import.meta.filename) await runCommand(printReport);
