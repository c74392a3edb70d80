type TextField = HTMLInputElement | HTMLTextAreaElement;

/**
 * Remembers what was typed into the served fields and whether it was sent; the answer tells React of it, which would
 * else begin with none.
 */
export function typedSoFar(root: HTMLElement): () => void {
  const sent = root.querySelector<HTMLFormElement>('form[data-sent]');
  delete sent?.dataset['sent'];
  const fields = [...root.querySelectorAll<TextField>('input, textarea')];
  const typed = fields.filter(({ value, defaultValue }) => value !== defaultValue);
  const values = typed.map((field) => [field, field.value] as const);
  return () => {
    for (const [field, value] of values) retype(field, value);
    // Once React has drawn what was typed.
    if (sent) setTimeout(() => sent.requestSubmit());
  };
}

function retype(field: TextField, value: string): void {
  const change = () => field.dispatchEvent(new Event('input', { bubbles: true }));
  // An event makes React take over the place where it happens at once; only then does it listen to the second.
  change();
  // The field's own setter is watched by React, which would see no change.
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value')?.set?.call(field, value);
  change();
}
