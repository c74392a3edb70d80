/* `npm run deploy [-- --env preview|production]`: check, migrate, build and deploy, look; production unless told otherwise. */
import { migrate } from '../../drizzle/migrate.ts';
import { deployTo } from './deploy-to.ts';
import { examine } from './examine.ts';
import { publish } from './publish.ts';
import { smoke } from './smoke.ts';
import { readCommand } from './target.ts';

const { target, values } = readCommand('production');
if (target === 'local') throw new Error('Deploy to preview or production; `npm run dev` serves this machine.');

const say = (line: string) => void process.stdout.write(`${line}\n`);
const done = await deployTo(target, values, { examine, migrate, publish, smoke: (siteUrl) => smoke(siteUrl), say });
process.exitCode = done ? 0 : 1;
