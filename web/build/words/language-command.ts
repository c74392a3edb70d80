import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { languages } from '#contract/languages';
import { faultsOf } from './check.ts';
import { compileWords } from './compile.ts';
import { pseudoLanguage, pseudoTexts } from './pseudo-language.ts';
import { folderOf, presentLanguages, readTexts, wordsFolder } from './texts.ts';

const usage = `npm run language -- check [tag]   names what is missing or broken, in one language or all
npm run language -- add <tag>     makes the folder of a language with the English texts
npm run language -- compile       writes the TypeScript of every language that is complete`;

const [command = '', tag] = process.argv.slice(2);
const chosen = languages
  .filter((language) => tag === undefined || language.tag === tag)
  .map((language) => language.tag);

if (chosen.length === 0) fail(`${tag} is not in worker/contract/languages.ts. Add it there first.`);
else if (command === 'check') check();
else if (command === 'add') add();
else if (command === 'compile') compile();
else fail(usage);

function check(): void {
  for (const language of presentLanguages().filter((present) => chosen.includes(present))) {
    const faults = faultsOf(folderOf(language), language);
    if (faults.length > 0) process.exitCode = 1;
    for (const fault of faults) print(`${language}: ${fault}`);
    print(faults.length === 0 ? `${language} is complete` : `${language}: ${faults.length} faults`);
  }
}

function add(): void {
  const target = tag === undefined ? undefined : join(wordsFolder, tag.toLowerCase());
  if (target === undefined) return fail(usage);
  if (existsSync(target)) return fail(`${target} exists already`);
  cpSync(join(wordsFolder, 'en'), target, { recursive: true });
  rmSync(join(target, 'notes.json'));
  print(`${target} has the English texts. Translate them, then run: npm run language -- check ${tag}`);
}

/** A language that is not complete is compiled nowhere. English is the source, so a fault in it ends the build. */
function compile(): void {
  for (const language of presentLanguages()) {
    const faults = faultsOf(folderOf(language), language);
    const row = languages.find(({ tag: other }) => other === language);
    if (row && faults.length === 0) compileWords(row, readTexts(folderOf(language)));
    else if (language === 'en') fail(faults.join('\n'));
    else print(`${language} is not complete: ${faults.length} faults. Run: npm run language -- check ${language}`);
  }
  compileWords(pseudoLanguage, pseudoTexts(readTexts('en')));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function fail(reason: string): void {
  process.stderr.write(`${reason}\n`);
  process.exitCode = 1;
}
