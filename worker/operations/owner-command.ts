import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import * as v from 'valibot';
import { type SettingName, SettingRules } from '../setting-rules.ts';
import { type CommandLine, type Flags, readLine, UsageError } from './command-line.ts';

export type Target = 'local' | 'preview' | 'production';
export type Values = Record<string, string | undefined>;

const targets: readonly Target[] = ['local', 'preview', 'production'];

type Command = {
  target: Target;
  words: string[];
  flags: Flags;
  values: Values;
};

/** Throws a `UsageError`. */
export function readCommand(fallback: Target, line: CommandLine): Command {
  const options = { env: { type: 'string' }, ...line.options } as const;
  const { words, flags } = readLine({ ...line, options });
  const target = targets.find((name) => name === (flags['env'] ?? fallback));
  if (!target) throw new UsageError('--env takes local, preview or production.');
  const file = target === 'local' ? '.dev.vars' : `.dev.vars.${target}`;
  if (existsSync(file)) loadEnvFile(file);
  return {
    target,
    words,
    flags,
    values: process.env,
  };
}

/** Throws if one is missing or wrong. */
export function requireTargetSettings(
  target: Target,
  values: Values,
  names: readonly SettingName[],
) {
  const isRight = (name: SettingName) => v.is(SettingRules.entries[name], values[name]);
  const wrong = names.filter((name) => !isRight(name));
  if (wrong.length > 0) throw settingsAreWrong(target, wrong.join(', '));
}

export function settingsAreWrong(target: Target, what: string): Error {
  const place = target === 'local' ? 'this machine' : target;
  const remedy =
    target === 'local'
      ? 'start `npm run dev` once, which writes them into .dev.vars, or see `npm run doctor`'
      : `\`npm run doctor -- --env ${target}\` says how to get them`;
  return new Error(`Of the settings of ${place}, these are missing or wrong: ${what}; ${remedy}.`);
}

const webAddress = v.pipe(v.string(), v.url(), v.regex(/^https?:\/\//));
const optional = <Rule extends v.GenericSchema<string>>(rule: Rule) =>
  v.optional(v.union([v.literal(''), rule]), '');

export const OwnerSettings = v.object({
  /** The build writes it into the page. */
  CONTACT_URL: optional(webAddress),
  /** When somebody last read each line's page. */
  HELP_LINES_READ_ON: optional(v.pipe(v.string(), v.isoDate())),
});

export type OwnerSettings = v.InferOutput<typeof OwnerSettings>;
export type OwnerSettingName = keyof OwnerSettings;

export const howToGetOwnerSettings: Record<OwnerSettingName, string> = {
  CONTACT_URL:
    'Write the https address of a webhook or form service that takes JSON by POST and allows the site in CORS.',
  HELP_LINES_READ_ON:
    'Let a named person read every page in worker/contract/help-lines.ts, then write the date, such as 2026-11-21.',
};
