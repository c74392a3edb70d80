import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import {
  growingText,
  messageBlocks,
  messageParts,
  type MessagePart,
} from '../../web/rules/message-text.ts';

const names = { bold: 'b', italic: 'i' };

/** The parts as HTML would spell them. */
function spelled(parts: MessagePart[]): string {
  return parts
    .map((part) => {
      if (part.kind === 'text') return part.text;
      if (part.kind === 'link')
        return part.text === part.href ? `<${part.href}>` : `<${part.href} ${part.text}>`;
      return `[${names[part.kind]} ${spelled(part.parts)}]`;
    })
    .join('');
}

const shown = (text: string) =>
  messageBlocks(text)
    .map((block) => {
      if (block.kind === 'list')
        return block.items
          .map((item, index) => {
            const mark = block.start ? `${block.start + index}. ` : '• ';
            return mark + spelled(messageParts(item));
          })
          .join('\n');
      const text = spelled(messageParts(block.text));
      return block.kind === 'heading' ? `= ${text}` : text;
    })
    .join('\n');

describe('the parts of a message', () => {
  it.each([
    ['plain', 'plain'],
    ['*bold* and _italic_', '[b bold] and [i italic]'],
    ['**Importante**: respira', '[b Importante]: respira'],
    ['***all***', '[b [b all]]'],
    ['**muy _muy_ bien**', '[b muy [i muy] bien]'],
    ['__muy importante__', '[b muy importante]'],
    ['__init__ and __name__', '__init__ and __name__'],
    ['2*3*4 snake_case_name', '2*3*4 snake_case_name'],
    ['2 * 3 * 4', '2 * 3 * 4'],
    ['**open', '**open'],
    ['*hola **mundo**', '*hola [b mundo]'],
    ['_hola __dos mundos__', '_hola [b dos mundos]'],
    ['**hola y **mundo**', '**hola y [b mundo]'],
    ['*hola **mundo***', '[b hola [b mundo]]'],
    ['*2*3 es 6* y **2**3 es 8**', '[b 2*3 es 6] y [b 2**3 es 8]'],
    ['_mi nombre_de_archivo_', '[i mi nombre_de_archivo]'],
    ['<script>alert(1)</script>', '<script>alert(1)</script>'],
    ['javascript:alert(1)', 'javascript:alert(1)'],
    ['[a](javascript:alert(1))', '[a](javascript:alert(1))'],
  ])('%s is %s', (text, parts) => {
    expect(spelled(messageParts(text))).toBe(parts);
  });

  it.each([
    ['See https://a.example/x.', 'See <https://a.example/x>.'],
    [
      '(https://en.wikipedia.org/wiki/Mercury_(planet))',
      '(<https://en.wikipedia.org/wiki/Mercury_(planet)>)',
    ],
    ['https://a.example/wiki/Foo_(bar)', '<https://a.example/wiki/Foo_(bar)>'],
    ['https://a.example/demo_', '<https://a.example/demo_>'],
    ['https://a.example/e?x=[1]', '<https://a.example/e?x=[1]>'],
    ['https://a.example/#frag_', '<https://a.example/#frag_>'],
    ['(https://a.example/a)', '(<https://a.example/a>)'],
    ['*https://a.example/b*', '[b <https://a.example/b>]'],
    ['**https://a.example/b**', '[b <https://a.example/b>]'],
    ['«https://a.example/c»', '«<https://a.example/c>»'],
    ['“https://a.example/i”', '“<https://a.example/i>”'],
    ['https://a.example/d。', '<https://a.example/d>。'],
    ['https://a.example/j…', '<https://a.example/j>…'],
    ['https://a.example/k）', '<https://a.example/k>）'],
    ['https://a.example/q؟', '<https://a.example/q>؟'],
    ['https://a.example/r।', '<https://a.example/r>।'],
    ['`https://a.example/u`', '`<https://a.example/u>`'],
    ['"https://a.example/v"', '"<https://a.example/v>"'],
    ['<https://a.example/w>', '<<https://a.example/w>>'],
    ['https://a.example/n_(o)_p.', '<https://a.example/n_(o)_p>.'],
    ['https://a.example/?utm_source=x&y=%20#z/', '<https://a.example/?utm_source=x&y=%20#z/>'],
    ['HTTPS://A.example/x!?', '<HTTPS://A.example/x>!?'],
    ['[enlace](https://a.example/x_(y))', '<https://a.example/x_(y) enlace>'],
    ['([enlace](https://a.example/x)).', '(<https://a.example/x enlace>).'],
    ['**[Línea 135](https://a.example/x)**', '[b <https://a.example/x Línea 135>]'],
    ['[**Línea 135**](https://a.example/x)', '<https://a.example/x Línea 135>'],
    ['[a.example](https://a.example/x)', '<https://a.example/x a.example>'],
    ['https://', 'https://'],
    ['See www.a.example/x.', 'See <https://www.a.example/x www.a.example/x>.'],
    ['(WWW.a.example)', '(<https://WWW.a.example WWW.a.example>)'],
    ['**www.a.example**', '[b <https://www.a.example www.a.example>]'],
    ['https://www.a.example', '<https://www.a.example>'],
    ['me@www.a.example', 'me@www.a.example'],
    ['www. and www', 'www. and www'],
  ])('the address in %s', (text, parts) => {
    expect(spelled(messageParts(text))).toBe(parts);
  });

  it('a text that names another address than the one behind it hides nothing', () => {
    const text = '[https://bank.example](https://evil.example/x)';
    expect(messageParts(text).some((part) => part.kind === 'link' && part.text !== part.href)).toBe(
      false,
    );
  });

  it('lose no character but the marks, and lead to http and https alone', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 8 }),
      fc.constantFrom('*', '**', '_', '__', ' ', 'https://a.b/c', '[', '](', ')', '.', '»', '\n'),
    );
    const written = (parts: MessagePart[]): string =>
      parts.map((part) => ('text' in part ? part.text : written(part.parts))).join('');
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        const withoutMarks = (value: string) => value.replaceAll(/[*_[\]()]/g, '');
        const parts = messageParts(text);
        if (!text.includes('](')) expect(withoutMarks(written(parts))).toBe(withoutMarks(text));
        for (const part of parts)
          if (part.kind === 'link') expect(part.href).toMatch(/^https?:\/\//i);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the blocks of a reply', () => {
  it.each([
    ['One\n\nTwo', 'One\n\nTwo'],
    ['### Pasos\nUno', '= Pasos\nUno'],
    ['## Pasos ##', '= Pasos'],
    ['#1 in the world', '#1 in the world'],
    ['* uno\n* *dos*', '• uno\n• [b dos]'],
    ['- tres\n- cuatro', '• tres\n• cuatro'],
    ['1. uno\n2. dos', '1. uno\n2. dos'],
    ['3) tres\n4) cuatro', '3. tres\n4. cuatro'],
    ['1. uno\n\n2. dos', '1. uno\n2. dos'],
    ['- uno\n  - dos', '• uno\n• dos'],
    // Reports of other products: Marinara-Engine 3242, markdown-to-jsx 773.
    ['# Pasos\r\n\r\n1. uno\r\n2. dos\r\n', '= Pasos\n1. uno\n2. dos'],
    ['Hola\r\n\r\n---\r\n- uno\r\n- dos\r\nfin', 'Hola\r\n\n\n• uno\n• dos\nfin'],
    ['2026 was long.', '2026 was long.'],
    ['-5 degrees', '-5 degrees'],
    ['| a | b |', '| a | b |'],
    ['', ''],
  ])('of %j are %j', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it('keep every word, whatever is written', () => {
    const line = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.constantFrom('# a', '- b', '1. c', '', ' ', '---', '* d', 'e'),
    );
    const words = (text: string) => text.replaceAll(/[^\p{L}]/gu, '');
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const text = lines.join('\n');
        const kept = messageBlocks(text).map((block) =>
          block.kind === 'list' ? block.items.join('') : block.text,
        );
        expect(words(kept.join(''))).toBe(words(text));
      }),
    );
  });
});

describe('a reply that grows', () => {
  it.each([
    ['**Importan', '**Importan**'],
    ['**Importante*', '**Importante**'],
    ['**Importante**', '**Importante**'],
    ['Es **', 'Es '],
    ['Es *', 'Es '],
    ['Mira [la lín', 'Mira la lín'],
    ['Mira [la línea](https://a.exa', 'Mira la línea'],
    ['Pasos\n- ', 'Pasos\n'],
    ['Pasos\n##', 'Pasos\n'],
    ['2*3', '2*3'],
    ['snake_case', 'snake_case'],
  ])('%j is shown as %j', (text, expected) => {
    expect(growingText(text)).toBe(expected);
  });

  it('never shows the marks of what will be bold or a link', () => {
    const whole = 'Hola, **muy importante**: [la línea](https://a.example/x)\n- **uno**\n- dos';
    for (let length = 1; length <= whole.length; length += 1)
      expect(shown(growingText(whole.slice(0, length)))).not.toMatch(/\*|\]\(|^- /m);
  });
});
