export type MessagePart =
  | { kind: 'text' | 'bold' | 'italic'; text: string }
  | { kind: 'link'; text: string; href: string };

const marks = { '*': 'bold', _: 'italic' } as const;
const link = /https?:\/\/[^\s<>"]+/gi;
/** Punctuation that ends a sentence rather than an address. */
const trailing = /[.,;:!?)\]'*_]+$/;

/** The parts of a message: links, and WhatsApp's `*bold*` and `_italic_`. Everything else is text. */
export function messageParts(text: string): MessagePart[] {
  const parts: MessagePart[] = [];
  let end = 0;
  for (const match of text.matchAll(link)) {
    const address = match[0].replace(trailing, '');
    if (!URL.canParse(address)) continue;
    parts.push(...emphasis(text.slice(end, match.index)), { kind: 'link', text: address, href: address });
    end = match.index + address.length;
  }
  return [...parts, ...emphasis(text.slice(end))];
}

/** A mark counts at a word boundary, and only if the text between two marks has no line break. */
function emphasis(text: string): MessagePart[] {
  const parts: MessagePart[] = [];
  let end = 0;
  for (const match of text.matchAll(/(?<![\p{L}\p{N}*_])([*_])(?=\S)([^\n]*?\S)\1(?![\p{L}\p{N}*_])/gu)) {
    const [whole, mark, inner = ''] = match;
    if (match.index > end) parts.push({ kind: 'text', text: text.slice(end, match.index) });
    parts.push({ kind: mark === '*' ? marks['*'] : marks._, text: inner });
    end = match.index + whole.length;
  }
  if (end < text.length) parts.push({ kind: 'text', text: text.slice(end) });
  return parts;
}
