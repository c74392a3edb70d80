import { runCommand, UsageError } from '../command-line.ts';
import { readCommand } from '../owner-command.ts';
import { alerts, alertList, dutyTable, eventPage, type Alert } from './alerts.ts';

/*
 * `npm run alerts -- rules|dashboard [--env …] [--data-source UID]`: the alerts as Grafana reads them, to stdout;
 * `npm run alerts -- list`: the list of the runbook;
 * `npm run alerts -- events [NAME]`: what each event of the log means, and who must act;
 * `npm run alerts -- duties`: a table of the events that somebody must act on.
 */

type GrafanaTarget = { service: string; dataSource: string };

/**
 * Cloudflare's OpenTelemetry export writes each
 * line of the log as the body of a log record.
 */
function logql({ query }: Alert, service: string): string {
  return query.replaceAll('LOGS', `{service_name="${service}"} | json`);
}

export function alertRules({ service, dataSource }: GrafanaTarget) {
  const rules = alerts.map((alert) => ({
    uid: `${service}-${slug(alert.name)}`,
    title: alert.name,
    condition: 'exceeded',
    for: `${alert.forMinutes}m`,
    noDataState: 'OK',
    execErrState: 'Error',
    labels: { service, urgency: alert.urgency },
    annotations: { summary: alert.meaning, description: alert.when },
    data: [
      {
        refId: 'found',
        relativeTimeRange: { from: 3600, to: 0 },
        datasourceUid: dataSource,
        model: {
          refId: 'found',
          expr: logql(alert, service),
          queryType: 'instant',
        },
      },
      {
        refId: 'exceeded',
        relativeTimeRange: { from: 0, to: 0 },
        datasourceUid: '__expr__',
        model: {
          refId: 'exceeded',
          type: 'threshold',
          expression: 'found',
          conditions: [{ evaluator: { type: 'gt', params: [alert.threshold] } }],
        },
      },
    ],
  }));
  return {
    apiVersion: 1,
    groups: [
      {
        orgId: 1,
        name: service,
        folder: 'Solace',
        interval: '1m',
        rules,
      },
    ],
  };
}

export function dashboard({ service, dataSource }: GrafanaTarget) {
  const datasource = { type: 'loki', uid: dataSource };
  const requests = `sum by (route) (count_over_time({service_name="${service}"} | json | event="request_completed" [5m]))`;
  const panel = (
    index: number,
    title: string,
    description: string,
    expr: string,
    threshold?: number,
  ) => ({
    id: index + 1,
    type: 'timeseries',
    title,
    description,
    datasource,
    gridPos: {
      h: 8,
      w: 12,
      x: (index % 2) * 12,
      y: Math.floor(index / 2) * 8,
    },
    targets: [{ refId: 'A', datasource, expr }],
    fieldConfig: {
      defaults: {
        thresholds: {
          mode: 'absolute',
          steps: [
            { color: 'green', value: null },
            ...(threshold === undefined ? [] : [{ color: 'red', value: threshold }]),
          ],
        },
      },
      overrides: [],
    },
  });
  const panels = [
    panel(0, 'Requests by route', 'in five minutes', requests),
    ...alerts.map((alert, index) =>
      panel(index + 1, alert.name, alert.when, logql(alert, service), alert.threshold),
    ),
  ];
  return {
    uid: service,
    title: service,
    timezone: 'utc',
    refresh: '1m',
    time: { from: 'now-24h', to: 'now' },
    schemaVersion: 41,
    panels,
  };
}

function slug(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]+/g, '-');
}

async function printAlerts(): Promise<boolean> {
  const { target, words, flags } = readCommand('production', {
    usage:
      'npm run alerts -- rules|dashboard|list|duties|events [NAME] [--env preview|production] [--data-source UID]',
    options: { 'data-source': { type: 'string' } },
    words: 2,
  });
  const dataSource = String(flags['data-source'] ?? 'grafanacloud-logs');
  const named = {
    service: target === 'preview' ? 'solace-preview' : 'solace',
    dataSource,
  };

  const [what, name] = words;
  const texts: Record<string, () => string> = {
    rules: () => JSON.stringify(alertRules(named), null, 2),
    dashboard: () => JSON.stringify(dashboard(named), null, 2),
    list: alertList,
    duties: dutyTable,
    events: () => eventPage(name),
  };

  const text = texts[what ?? ''];
  if (!text) throw new UsageError('Say rules, dashboard, list, duties or events.');
  if (name && what !== 'events') throw new UsageError(`${what} takes no other word.`);

  const page = text();
  if (!page) throw new UsageError(`The log has no event ${name}.`);

  process.stdout.write(`${page}\n`);
  return true;
}

if (process.argv[1] === import.meta.filename) await runCommand(printAlerts);
