import {
  helpLinesMaximumDays,
  helpLinesReading,
  helpLinesReadOnSetting as name,
  staleHelpLines,
} from '../stale-help-lines.ts';
import { howToGetOwnerSettings } from '../../owner-settings.ts';
import type { Values } from '../../target.ts';
import { fine, warning, wrong, type Finding } from '../finding.ts';

const remedy = howToGetOwnerSettings.HELP_LINES_READ_ON;

/** Whether a team member has read every help line's page, and how old the sources are. */
export function checkHelpLines(values: Values, now: Date): Finding[] {
  const stale = staleHelpLines(now);
  const reading = {
    missing: warning(name, 'is missing: nobody of the team has confirmed the help lines', remedy),
    invalid: wrong(name, 'is no past date such as 2026-11-21', remedy),
    stale: warning(name, `is more than ${helpLinesMaximumDays} days ago`, remedy),
    current: fine('The help lines were read by the team'),
  }[helpLinesReading(values[name], now)];
  if (stale.length === 0) return [reading];
  const named = stale.slice(0, 3).map(({ country, service, readOn }) => `${service} (${country}, ${readOn})`);
  const others = stale.length > named.length ? `, and ${stale.length - named.length} more` : '';
  const what = `${stale.length} sources are older than ${helpLinesMaximumDays} days: ${named.join(', ')}${others}`;
  return [
    reading,
    warning('Help lines', what, 'Read their pages and write the date as `readOn` in worker/contract/help-lines.ts.'),
  ];
}
