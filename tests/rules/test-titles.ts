/**
 * What the tests and groups of a file are called: the quoted first argument of `it`, `test`, `stubbed` and `describe`, and of the
 * call after `.each(…)`.
 */
export function titlesIn(source: string): Set<string> {
  const quoted = source.matchAll(
    /(?:\b(?:it|test|stubbed|describe)(?:\.\w+)*|\))\(\s*(['"`])((?:\\.|(?!\1).)*)\1,/gs,
  );
  return new Set([...quoted].map(([, , title = '']) => title.replaceAll(/\\(.)/g, '$1')));
}
