import { spawnSync } from 'node:child_process';
import { published } from '#contract/languages';
import { faultsOf } from './words/check.ts';
import { folderOf } from './words/texts.ts';

// English first: it empties the folder of the site, and the other languages add to it.
for (const language of published) {
  const faults = faultsOf(folderOf(language), language);
  if (faults.length > 0) end(`${language} is published but not complete:\n${faults.join('\n')}`);
  const conditions = language === 'en' ? [] : [`--conditions=${folderOf(language)}`];
  const program = ['node_modules/vite/bin/vite.js', 'build', '--configLoader', 'native', ...process.argv.slice(2)];
  const { status } = spawnSync(process.execPath, [...conditions, ...program], { stdio: 'inherit' });
  if (status !== 0) end(`The build of ${language} failed`);
}

function end(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}
