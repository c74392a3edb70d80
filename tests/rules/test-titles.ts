/** The quoted first argument of `it`, `test`, `stubbed` and `describe`, and of the call after `.each(…)`, with the indentation of its line. */
function titledIn(source: string): { indent: string; title: string }[] {
  const quoted = source.matchAll(
    /(?:\b(?:it|test|stubbed|describe)(?:\.\w+)*|\))\(\s*(['"`])((?:\\.|(?!\1).)*)\1,/gs,
  );
  return [...quoted].map(({ index, 2: title = '' }) => ({
    indent: /^ */.exec(source.slice(source.lastIndexOf('\n', index) + 1))![0],
    title: title.replaceAll(/\\(.)/g, '$1'),
  }));
}

/** What the tests and groups of a file are called. */
export const titlesIn = (source: string): Set<string> =>
  new Set(titledIn(source).map(({ title }) => title));

/** The groups and tests of a file as a nested list of Markdown, in their order. */
export function outlineOf(source: string): string {
  return titledIn(source)
    .map(({ indent, title }) => `${indent}- ${title}`)
    .join('\n');
}
