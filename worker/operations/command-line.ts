import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { failureText, proxyHint } from './failure-text.ts';

type CommandOptions = ParseArgsOptionsConfig;
export type Flags = Record<string, string | boolean | undefined>;

export type CommandLine = {
  /** How to call it. */
  usage: string;
  /** What `--help` prints, if that is more. */
  help?: string;
  options?: CommandOptions;
  /** How many words it takes at most. */
  words?: number;
};

export class UsageError extends Error {}

/** `--help` asks for the usage alone. */
class HelpAsked extends Error {}

/** Throws a `UsageError` for what is not of this command. */
export function readLine(command: CommandLine): {
  words: string[];
  flags: Flags;
} {
  const { usage, help = usage, options = {}, words = 0 } = command;
  const swallowed = takenByNpm(options);
  if (swallowed) throw wrongLine(`npm has taken --${swallowed} for itself`, usage);

  const { values: flags, positionals } = parse(options, usage);
  if (flags['help']) throw new HelpAsked(help);
  if (positionals.length > words)
    throw wrongLine(`There is no place for "${positionals[words]}" here`, usage);
  return { words: positionals, flags };
}

function wrongLine(problem: string, usage: string): UsageError {
  return new UsageError(`${problem}: write options behind \`--\`, as in \`${usage}\`.`);
}

/** Wherever they stand, they change what is done, and where. */
const alwaysOurs = ['env', 'dry-run'];

/**
 * npm takes options that stand before `--` for its own settings.
 * `yes` may be one of the machine, and we ask for a missing one.
 */
function takenByNpm(options: CommandOptions): string | undefined {
  const isTaken = (name: string) =>
    !['', 'false'].includes(process.env[`npm_config_${name.replaceAll('-', '_')}`] ?? '');
  const ours = new Set([...Object.keys(options), ...alwaysOurs]);
  return [...ours].find((name) => name !== 'yes' && isTaken(name));
}

function parse(options: CommandOptions, usage: string) {
  try {
    const { values, positionals } = parseArgs({
      options: { ...options, help: { type: 'boolean' } },
      allowPositionals: true,
    });
    return { values: values as Flags, positionals };
  } catch (error) {
    // Node's further sentences advise what no command takes.
    const [problem = ''] = (error as Error).message.split(/[.:]?\s*\n|\. /);
    throw wrongLine(problem, usage);
  }
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
    process.exitCode = tell(error);
  }
  const hint = process.exitCode === 1 && proxyHint(process.env);
  if (hint) process.stderr.write(`${hint}\n`);
}

function tell(error: unknown): number {
  if (error instanceof HelpAsked) {
    process.stdout.write(`${error.message}\n`);
    return 0;
  }
  process.stderr.write(`${failureText(error)}\n`);
  return error instanceof UsageError ? 2 : 1;
}
