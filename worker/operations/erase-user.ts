/* `npm run user:erase -- +15551234567 --yes [--env …]`: deletes an account, as its user could. */
import { eraseThroughFrontDoor } from './erase-through-front-door.ts';
import { openUser } from './open-user.ts';
import { readCommand } from './target.ts';

const { words, yes, values } = readCommand('local');
try {
  const opened = await openUser(values, words[0]);
  const { tier, createdAt } = opened.user;
  const who = `the ${tier} account of ${opened.user.phone}, opened on ${new Date(createdAt).toISOString().slice(0, 10)}`;
  if (!yes) throw new Error(`This would erase ${who}, for good. Say --yes to do it.`);
  await eraseThroughFrontDoor(opened);
  process.stdout.write(`Erased ${who}.\n`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
