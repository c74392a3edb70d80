import { runCommand, UsageError } from '../command-line.ts';
import { readCommand } from '../owner-command.ts';
import { supportCommands } from './account-commands.ts';
import { runSupport } from './command-audit.ts';

/* `npm run support -- COMMAND [--env preview|production] [--json]`: for questions and requests of users. */

const call = 'npm run support -- COMMAND [--env preview|production] [--json]';
const options = {
  json: { type: 'boolean' },
  yes: { type: 'boolean' },
  tier: { type: 'string' },
  days: { type: 'string' },
} as const;

await runCommand(async () => {
  const { target, words, flags, values } = readCommand('local', {
    usage: call,
    help: usage(),
    options,
    words: Infinity,
  });
  const [name, ...rest] = words;
  if (name === undefined) {
    process.stdout.write(`${usage()}\n`);
    return true;
  }
  const command = supportCommands[name];
  if (!command) throw new UsageError(`There is no command ${name}.\n${usage()}`);
  const { tier, days, json, yes } = flags as {
    tier?: string;
    days?: string;
    json?: boolean;
    yes?: boolean;
  };
  return runSupport({
    name,
    command,
    target,
    values,
    words: rest,
    flags: { ...(tier && { tier }), ...(days && { days }) },
    json: json === true,
    yes: yes === true,
  });
});

function usage(): string {
  const lines = Object.values(supportCommands).map(
    (each) => `  ${each.usage.padEnd(55)}${each.about}`,
  );
  return [
    call,
    '',
    ...lines,
    '',
    'Without --env it works on this machine. Commands that lose something ask for --yes. Every use leaves a line in',
    'support-audit.jsonl. Exit code 0: done; 1: not done; 2: wrong command line, or --yes is missing.',
  ].join('\n');
}
