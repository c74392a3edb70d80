import { placeholdersOf, withNames } from './message.ts';
import { readSources, sentencesOf } from './texts.ts';

/** In characters; search engines show no more. */
const longest = { title: 60, description: 160 };

export function faultsOf(folder: string, locale: string): string[] {
  const [english, translated] = [sentencesOf('en'), sentencesOf(folder)];
  const missing = [...english.keys()]
    .filter((key) => !translated.has(key))
    .map((key) => `${key} is missing`);
  const wrong = [...translated].flatMap(
    ([key, text]) => faultOf(key, { text, source: english.get(key), locale }) ?? [],
  );
  const untranslated = Object.entries(readSources(folder)).flatMap(([key, source]) =>
    source === '' && english.has(key) ? [`${key} is still English`] : [],
  );
  return [...missing, ...untranslated, ...wrong];
}

type Compared = { text: string; source: string | undefined; locale: string };

function faultOf(key: string, { text, source, locale }: Compared): string | undefined {
  if (source === undefined) return `${key} does not exist in English`;
  if (text.trim() === '') return `${key} is empty`;

  const limit =
    key.startsWith('page-heads.head.') && longest[key.split('.').at(-1) as keyof typeof longest];
  const { length } = withNames(text, locale);
  if (limit && length > limit)
    return `${key} has ${length} characters, at most ${limit} are allowed`;

  try {
    const [wanted, found] = [placeholdersOf(source, 'en'), placeholdersOf(text, locale)];
    return wanted === found
      ? undefined
      : `${key} has the placeholders “${found}” instead of “${wanted}”`;
  } catch (error) {
    return `${key}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
