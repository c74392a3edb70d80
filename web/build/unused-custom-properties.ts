/**
 * Removes custom properties that no rule uses, of which Panda declares 30 for each element: 0.3 KiB of every page, and
 * less work for the browser. Scripts set custom properties, but read none.
 */
export function withoutUnusedVariables(sheet: string): string {
  const used = new Set([...sheet.matchAll(/var\((--[\w-]+)/g)].map(([, name = '']) => name));
  const kept = sheet.replaceAll(/(?<=[;{])(--[\w-]+):[^;{}]*(?:;|(?=\}))/g, (declaration, name) =>
    used.has(name) ? declaration : '',
  );
  // A removed property may have been the only one that used another.
  return kept === sheet ? sheet : withoutUnusedVariables(kept);
}
