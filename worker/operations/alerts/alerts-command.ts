import { readCommand, runCommand, UsageError } from '../target.ts';
import { alertRules, dashboard } from './grafana.ts';

/* `npm run alerts -- rules|dashboard [--env …] [--data-source UID]`: the alerts as Grafana reads them, to stdout. */

await runCommand(async () => {
  const { target, words, flags } = readCommand('production', { 'data-source': { type: 'string' } });
  const dataSource = String(flags['data-source'] ?? 'grafanacloud-logs');
  const named = { service: target === 'preview' ? 'solace-preview' : 'solace', dataSource };
  const [what] = words;
  if (what !== 'rules' && what !== 'dashboard') throw new UsageError('Say rules or dashboard.');
  process.stdout.write(`${JSON.stringify(what === 'rules' ? alertRules(named) : dashboard(named), null, 2)}\n`);
  return true;
});
