import * as v from 'valibot';
import { Settings } from '../../../settings.ts';
import { fine, wrong, type Finding } from '../finding.ts';
import { howToGet } from '../how-to-get.ts';
import type { Values } from '../../target.ts';

export type SettingName = keyof Settings;

/** The names of all settings, in the order of worker/settings.ts. */
export const settingNames = Object.keys(Settings.entries) as SettingName[];

/** The valid settings, and a finding for each invalid one. */
export function checkSettings(values: Values): { settings: Partial<Settings>; findings: Finding[] } {
  const settings: Partial<Record<SettingName, unknown>> = {};
  const findings: Finding[] = [];
  for (const name of settingNames) {
    const result = v.safeParse(Settings.entries[name], values[name]);
    if (result.success) settings[name] = result.output;
    else findings.push(wrong(name, values[name] ? 'is malformed' : 'is missing', howToGet[name]));
  }
  if (findings.length === 0) findings.push(fine(`${settingNames.length} settings are there or have their default`));
  return { settings: settings as Partial<Settings>, findings };
}
