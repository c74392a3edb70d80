import { failureText, proxyHint } from './failure.ts';
import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import * as v from 'valibot';

export type Target = 'local' | 'preview' | 'production';
export type Values = Record<string, string | undefined>;

const targets: readonly Target[] = ['local', 'preview', 'production'];

type Flags = Record<string, string | boolean | undefined>;
type Command = {
  target: Target;
  words: string[];
  flags: Flags;
  values: Values;
};

export class UsageError extends Error {}

/** Throws a `UsageError`. */
export function readCommand(fallback: Target, more: ParseArgsOptionsConfig = {}): Command {
  const { values: flags, positionals } = parse({ env: { type: 'string' }, ...more });
  const target = targets.find((name) => name === (flags['env'] ?? fallback));
  if (!target) throw new UsageError('--env takes local, preview or production.');
  const file = target === 'local' ? '.dev.vars' : `.dev.vars.${target}`;
  if (existsSync(file)) loadEnvFile(file);
  return {
    target,
    words: positionals,
    flags,
    values: process.env,
  };
}

const unprintable = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
const escaped = (character: string) =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Stored text cannot command the terminal. */
function printable(text: string): string {
  return text.replace(unprintable, escaped);
}

export function printableOnLine(text: string): string {
  return printable(text).replace(/[\t\n]/g, escaped);
}

/** Nothing of users reaches the terminal as it is. */
function escapeOutput(stream: NodeJS.WriteStream): void {
  const write = stream.write.bind(stream) as (
    text: string | Uint8Array,
    ...rest: unknown[]
  ) => boolean;
  stream.write = (text: string | Uint8Array, ...rest: unknown[]) =>
    write(typeof text === 'string' ? printable(text) : text, ...rest);
}

/** Exit code 1 after a failure, 2 after an invalid line. */
export async function runCommand(run: () => Promise<boolean>): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) escapeOutput(stream);
  try {
    process.exitCode = (await run()) ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${failureText(error)}\n`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
  const hint = process.exitCode === 1 && proxyHint(process.env);
  if (hint) process.stderr.write(`${hint}\n`);
}

function parse(options: ParseArgsOptionsConfig): { values: Flags; positionals: string[] } {
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    return { values: values as Flags, positionals };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
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
