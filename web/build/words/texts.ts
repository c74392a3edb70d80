import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Language, languages } from '#contract/languages';

/** The condition by which `#words/*` leads to the language of this build, see the imports of package.json; none for English. */
export const wordsConditions: string[] = process.execArgv
  .filter((argument) => argument.startsWith('--conditions='))
  .map((argument) => argument.slice('--conditions='.length));

/** Texts by key: a sentence, a list, or a group of texts. */
export type Texts = string | Texts[] | { [key: string]: Texts };

export const wordsFolder = join(import.meta.dirname, '../../words');

/** The folder of a language. */
export const folderOf = (tag: string): string => tag.toLowerCase();

/** The languages that have a folder, English first. */
export const presentLanguages = (): Language[] =>
  languages.map(({ tag }) => tag).filter((tag) => existsSync(join(wordsFolder, folderOf(tag))));

/** The texts of a language by file, without the notes for translators. */
export function readTexts(folder: string): Record<string, { [group: string]: { [key: string]: Texts } }> {
  const files = readdirSync(join(wordsFolder, folder)).filter(
    (file) => file.endsWith('.json') && file !== 'notes.json',
  );
  const nameOf = (file: string) => file.slice(0, -'.json'.length);
  return Object.fromEntries(
    files.map((file) => [nameOf(file), JSON.parse(readFileSync(join(wordsFolder, folder, file), 'utf8'))]),
  );
}

/** Every sentence of a language by its key, such as `account.status.free`. */
export const sentencesOf = (folder: string): Map<string, string> => flatTexts(readTexts(folder));

function flatTexts(texts: Texts, place = ''): Map<string, string> {
  if (typeof texts === 'string') return new Map([[place, texts]]);
  const inside = Object.entries(texts).map(([key, text]) => flatTexts(text, place ? `${place}.${key}` : key));
  return new Map(inside.flatMap((all) => [...all]));
}
