import { Console } from 'node:console';
import { canonicalPhone } from '../../identity/phone.ts';
import { phoneTag } from '../../lib/log.ts';
import { writeAudit } from '../support/command-audit.ts';
import { runCommand, UsageError } from '../command-line.ts';
import { readCommand } from '../owner-command.ts';
import { openReader } from './read-database.ts';

/* `npm run query -- 'select …' [--env …]`: reads the database that the settings name; writes nothing but an audit line. */

const usage = "npm run query -- 'select …' [--env preview|production]";
const isRead = /^\s*(?:select|with|values)\b/i;

await runCommand(async () => {
  const { target, words, values } = readCommand('local', { usage, words: 1 });
  const query = (words[0] ?? '').replace(/;\s*$/, '');
  if (!isRead.test(query))
    throw new UsageError(
      `This command only reads: give it one query in quotes, as in \`${usage}\`.`,
    );

  const read = openReader(target, values);
  const { CODE_PEPPER = '' } = values;
  const entry = {
    env: target,
    command: 'query',
    about: await withoutNumbers(query, CODE_PEPPER.split(/\s/)[0]!),
  };

  writeAudit(entry, 'started');
  const rows = await read(query).catch((error: unknown) => {
    writeAudit(entry, 'failed');
    throw error;
  });
  writeAudit(entry, 'done');

  new Console(process.stdout).table(rows.map((row) => ({ ...row })));
  return true;
});

async function withoutNumbers(query: string, pepper: string): Promise<string> {
  const numbers = [...new Set(query.match(/\+?\d{7,}/g))];
  const tags = await Promise.all(
    numbers.map((number) => phoneTag(pepper, canonicalPhone(`+${number.replace('+', '')}`))),
  );
  return numbers.reduce((text, number, index) => text.replaceAll(number, tags[index]!), query);
}
