import { createHash } from 'node:crypto';
import { po } from 'gettext-parser';

type Sentences = ReadonlyMap<string, string>;

/** Hash of the English by key; empty while a text is English. */
export type Sources = Readonly<Record<string, string>>;

export type Translation = { sentences: Sentences; sources: Sources };

const sourceHash = (english: string): string =>
  createHash('sha256').update(english).digest('hex').slice(0, 8);

export const currentSources = (english: Sentences): Sources =>
  Object.fromEntries([...english].map(([key, text]) => [key, sourceHash(text)]));

/** A text without a source is not stale. */
export function staleKeys(english: Sentences, sources: Sources): string[] {
  const isStale = ([key, text]: [string, string]) =>
    Boolean(sources[key]) && sources[key] !== sourceHash(text);
  return [...english].filter(isStale).map(([key]) => key);
}

type Export = Translation & { tag: string; english: Sentences; notes: Record<string, string> };

/** English texts are empty, stale ones fuzzy, notes comments. */
export function writePo(given: Export): string {
  const { tag, english, sources } = given;
  const stale = new Set(staleKeys(english, sources));
  const entries = [...english].map(([key, text]) => {
    const entry = entryOf(key, text, { ...given, isStale: stale.has(key) });
    return [key, { [text]: entry }] as const;
  });
  const headers = {
    Language: tag.replace('-', '_'),
    'Content-Type': 'text/plain; charset=utf-8',
  };
  const translations = { '': { '': headOf(given) }, ...Object.fromEntries(entries) };
  const file = { charset: 'utf-8', headers, translations };
  return po.compile(file, { foldLength: 0 }).toString();
}

type Entry = Export & { isStale: boolean };

function entryOf(key: string, text: string, { notes, sentences, sources, isStale }: Entry) {
  const isEnglish = sources[key] === '';
  const isFormatted = /[{<]/.test(text);
  const flags = [...(isStale ? ['fuzzy'] : []), ...(isFormatted ? ['icu-message-format'] : [])];
  const extracted = notesOf(key, notes).join('\n');
  return {
    msgctxt: key,
    msgid: text,
    msgstr: [isEnglish ? '' : (sentences.get(key) ?? '')],
    comments: {
      ...(extracted && { extracted }),
      ...(flags.length > 0 && { flag: flags.join(', ') }),
    },
  };
}

function headOf({ tag, notes }: Export) {
  const { pluralCategories } = new Intl.PluralRules(tag).resolvedOptions();
  const forms = pluralCategories.join(', ');
  const translator = [
    ...['about', 'placeholders', 'voice'].flatMap((name) => notes[name] ?? []),
    `Plural forms of ${tag}: ${forms}. Each {…, plural, …} needs all of them.`,
  ];
  return { msgid: '', msgstr: [''], comments: { translator: translator.join('\n') } };
}

function notesOf(key: string, notes: Record<string, string>): string[] {
  const parts = key.split('.');
  return parts.flatMap((_, index) => notes[parts.slice(0, index + 1).join('.')] ?? []);
}

/** Empty texts stay, fuzzy ones stay stale. Throws for an unknown text. */
export function readPo(file: string, english: Sentences, before: Translation): Translation {
  const sentences = new Map<string, string>();
  const sources: Record<string, string> = {};

  for (const [key, text] of english) {
    sentences.set(key, before.sentences.get(key) ?? text);
    const known = before.sentences.has(key) ? before.sources[key] : '';
    if (known !== undefined) sources[key] = known;
  }

  const entries = Object.values(po.parse(file).translations).flatMap((group) =>
    Object.values(group),
  );
  for (const { msgctxt: key, msgid, msgstr, comments } of entries) {
    if (key === undefined) continue;
    if (!english.has(key)) throw new Error(`${key} does not exist in English`);
    const [text = ''] = msgstr;
    if (text.trim() === '') continue;

    sentences.set(key, text);
    const isFuzzy = comments?.flag?.split(', ').includes('fuzzy');
    if (!isFuzzy) sources[key] = sourceHash(msgid);
  }
  return { sentences, sources };
}
