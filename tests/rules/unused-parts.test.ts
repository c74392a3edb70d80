import { describe, expect, it } from 'vitest';
import { withoutUnusedProperties } from '../../web/build/drop-unused-properties.ts';
import { withoutUnusedVariables } from '../../web/build/page-styles.ts';

const compact = (code: string) => code.replaceAll(/\s+/g, '');
const shortened = (code: string) => compact(withoutUnusedProperties(code));

describe('the properties that an inline script never reads', () => {
  it('are removed', () => {
    const code = "const words = { a: 'A', b: (count) => `${count} B`, c: 'C' }; show(words.a, words.b(2));";
    expect(shortened(code)).toBe(
      compact("const words = { a: 'A', b: (count) => `${count} B` }; show(words.a, words.b(2));"),
    );
  });

  it('are removed together with what only they read', () => {
    const code =
      "const brand = { name: 'S', mail: 'M' }; const words = { a: brand.name, b: `${brand.mail}` }; show(words);";
    expect(shortened(code)).toBe(compact(code));
    const unread =
      "const brand = { name: 'S', mail: 'M' }; const words = { a: 'A', b: `${brand.mail}` }; show(words.a, brand.name);";
    expect(shortened(unread)).toBe(
      compact("const brand = { name: 'S' }; const words = { a: 'A' }; show(words.a, brand.name);"),
    );
  });

  it('stay if they are destructured', () => {
    const code = "const brand = { name: 'S', mail: 'M' }; const { name } = brand; show(name);";
    expect(shortened(code)).toBe(compact("const brand = { name: 'S' }; const { name } = brand; show(name);"));
  });

  it.each([
    "const words = { a: 'A', b: 'B' }; show(words[state]);",
    "const words = { a: 'A', b: 'B' }; show(words);",
    "const words = { a: 'A', b: 'B' }; const { a, ...rest } = words; show(rest);",
    "const words = { a: 'A', b: call() }; show(words.a);",
    "const words = { a: 'A', ...others }; show(words.a);",
  ])('stay where they may be read: %s', (code) => {
    expect(shortened(code)).toBe(compact(code));
  });
});

describe('custom properties that no rule uses', () => {
  it('are removed, and those that only they use', () => {
    const sheet = ':root{--a:1px;--b:var(--c);--c:2px;--d:#fff}p{margin:var(--a);color:var(--d)}';
    expect(withoutUnusedVariables(sheet)).toBe(':root{--a:1px;--d:#fff}p{margin:var(--a);color:var(--d)}');
  });

  it('are not mistaken for parts of class names', () => {
    const sheet = '.button--look_soft:hover{color:red}';
    expect(withoutUnusedVariables(sheet)).toBe(sheet);
  });
});
