import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { published } from '#contract/languages';
import { folderOf, inEnglishOrder, readNotes, readTexts, sentencesOf } from '../../web/build/words/texts.ts';
import { currentSources, readPo, staleKeys, writePo } from '../../web/build/words/translation-files.ts';

const english = sentencesOf('en');
const nothing = { sentences: new Map<string, string>(), sources: {} };
const others = published.filter((tag) => tag !== 'en');

describe('the file for translators', () => {
  it.each(others)('brings every text of %s back as it was', (tag) => {
    const before = { sentences: sentencesOf(folderOf(tag)), sources: currentSources(english) };
    const file = writePo({ ...before, tag, english, notes: readNotes() });
    expect(readPo(file, english, nothing)).toEqual(before);
    expect(inEnglishOrder(before.sentences)).toEqual(readTexts(folderOf(tag)));
  });

  it('brings any text back, whatever it contains', () => {
    const texts = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((text) => text.trim() !== '' && !/[\r\0]/.test(text));
    fc.assert(
      fc.property(texts, texts, (source, translated) => {
        const one = new Map([['a.b.c', source]]);
        const before = { sentences: new Map([['a.b.c', translated]]), sources: currentSources(one) };
        const file = writePo({ ...before, tag: 'it', english: one, notes: {} });
        expect(readPo(file, one, nothing)).toEqual(before);
      }),
    );
  });

  it('has the notes of a text, of its group and of its file, and says which texts are messages', () => {
    const notes = { voice: 'Warm.', 'a.b': 'A group.', 'a.b.c': 'A text.', 'a.x': 'Another.' };
    const one = new Map([['a.b.c', 'Hi {name}']]);
    const file = writePo({ ...nothing, tag: 'pt-BR', english: one, notes });
    const parts = ['# Warm.', '#. A group.\n#. A text.', '#, icu-message-format', 'Language: pt_BR'];
    for (const part of [...parts, '# Plural forms of pt-BR: one, many, other.']) expect(file).toContain(part);
    expect(file).not.toContain('Another');
  });

  const source = new Map(Object.entries({ 'a.b.one': 'One', 'a.b.two': 'Two' }));
  const fresh = { sentences: source, sources: { 'a.b.one': '', 'a.b.two': '' } as Record<string, string> };

  const po = (texts: typeof fresh, from = source) => writePo({ ...texts, tag: 'it', english: from, notes: {} });

  it('leaves a text that was not translated as it is: still English', () => {
    const file = po(fresh).replace('msgid "One"\nmsgstr ""', 'msgid "One"\nmsgstr "Uno"');
    const { sentences, sources } = readPo(file, source, fresh);
    expect(Object.fromEntries(sentences)).toEqual({ 'a.b.one': 'Uno', 'a.b.two': 'Two' });
    expect(sources).toEqual({ ...currentSources(new Map([['a.b.one', 'One']])), 'a.b.two': '' });
  });

  it('marks a text as stale if its English changed before or after the file was written', () => {
    const italian = new Map(Object.entries({ 'a.b.one': 'Uno', 'a.b.two': 'Due' }));
    const translated = { sentences: italian, sources: currentSources(source) };
    const changed = new Map([...source, ['a.b.two', 'Two of them']] as const);
    expect(staleKeys(changed, translated.sources)).toEqual(['a.b.two']);
    const late = readPo(po(translated), changed, fresh);
    expect(staleKeys(changed, late.sources)).toEqual(['a.b.two']);
    const early = po(translated, changed);
    expect(early).toContain('#, fuzzy\nmsgctxt "a.b.two"');
    expect(staleKeys(changed, readPo(early, changed, translated).sources)).toEqual(['a.b.two']);
    const confirmed = early.replace('#, fuzzy\n', '');
    expect(staleKeys(changed, readPo(confirmed, changed, translated).sources)).toEqual([]);
  });

  it('is refused if it has a text that English does not have', () => {
    const without = new Map([['a.b.one', 'One']]);
    expect(() => readPo(po(fresh), without, fresh)).toThrow('a.b.two does not exist in English');
  });
});
