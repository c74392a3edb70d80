import { Console } from 'node:console';
import { createClient } from '@libsql/client/web';
import { httpRequest } from '../doctor/finding.ts';
import { readCommand, runCommand } from '../target.ts';
import { readQuestions } from './questions.ts';

/* `npm run report [-- --env preview|production]`: the runbook's five questions with today's figures, on one page. */

const healthRequests = 5;

await runCommand(async () => {
  const { target, values } = readCommand('local');
  const { TURSO_DATABASE_URL: url = '', TURSO_AUTH_TOKEN: authToken = '', SITE_URL = '' } = values;
  const client = createClient({ url, authToken });
  const out = new Console(process.stdout);
  out.log(`Solace, ${target}, ${new Date().toISOString()}`);
  for (const { question, queries } of readQuestions()) {
    out.log(`\n${question}`);
    for (const query of queries) {
      const { rows } = await client.execute(`select * from (${query})`);
      if (rows.length > 0) out.table(rows.map((row) => ({ ...row })));
      else out.log('Nothing.');
    }
    if (queries.length === 0) out.log('The log answers this: see "The five questions" in worker/docs/runbook.md.');
  }
  out.log(`\n${SITE_URL}/api/health`);
  return healthIn(`${SITE_URL.replace(/\/+$/, '')}/api/health`, out);
});

/** Times a few requests, one after the other; returns whether each responded 200. */
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
