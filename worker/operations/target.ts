import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import { parseArgs } from 'node:util';

/** Where the product runs: on this machine, or as one of the environments of wrangler.toml. */
export type Target = 'local' | 'preview' | 'production';
export type Values = Record<string, string | undefined>;

const targets = new Set<string>(['local', 'preview', 'production'] satisfies Target[]);

type Command = { target: Target; words: string[]; yes: boolean; values: Values };

/**
 * What a command was told: `--env`, `--yes`, further words, and the settings. They come from the environment; what is
 * absent there comes from .dev.vars, or from .dev.vars.preview and .dev.vars.production, which git ignores.
 */
export function readCommand(fallback: Target): Command {
  const options = { env: { type: 'string' }, yes: { type: 'boolean' } } as const;
  const { values: flags, positionals } = parseArgs({ options, allowPositionals: true });
  const target = flags.env ?? fallback;
  if (!targets.has(target)) throw new Error('--env takes local, preview or production');
  const file = target === 'local' ? '.dev.vars' : `.dev.vars.${target}`;
  if (existsSync(file)) loadEnvFile(file);
  return { target: target as Target, words: positionals, yes: flags.yes ?? false, values: process.env };
}
