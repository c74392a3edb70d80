/* `npm run -s user:export -- +15551234567 [--env …]`: everything that is kept about a user, as JSON. */
import { collectUser } from './collect-user.ts';
import { openUser } from './open-user.ts';
import { readCommand } from './target.ts';

/** Beyond it a number is an instant in unix ms, which people read better as a date. */
const firstInstant = 1_000_000_000_000;

const { words, values } = readCommand('local');
try {
  const data = await collectUser(await openUser(values, words[0]));
  const readable = (_: string, value: unknown) =>
    typeof value === 'number' && value > firstInstant ? new Date(value).toISOString() : value;
  process.stdout.write(`${JSON.stringify(data, readable, 2)}\n`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
