type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/**
 * Saves the input that a visitor has entered into the prerendered fields, and which form was submitted or button
 * pressed. The returned function restores it once React has hydrated the page, because React starts with the served
 * values.
 */
export function saveTypedInput(root: HTMLElement): () => void {
  const sent = root.querySelector<HTMLFormElement | HTMLButtonElement>('[data-sent]');
  delete sent?.dataset['sent'];
  const fields = [...root.querySelectorAll<Field>('input, textarea, select')];
  const typed = fields.filter((field) => field.value !== servedValue(field));
  const values = typed.map((field) => [field, field.value] as const);
  return () => {
    for (const [field, value] of values) typeAgain(field, value);
    // After React has rendered the restored values.
    if (sent) setTimeout(() => ('requestSubmit' in sent ? sent.requestSubmit() : sent.click()));
  };
}

function servedValue(field: Field): string {
  if (!(field instanceof HTMLSelectElement)) return field.defaultValue;
  return [...field.options].find(({ defaultSelected }) => defaultSelected)?.value ?? '';
}

function typeAgain(field: Field, value: string): void {
  const type = field instanceof HTMLSelectElement ? 'change' : 'input';
  const dispatchChange = () => field.dispatchEvent(new Event(type, { bubbles: true }));
  const selection: [number, number] | null =
    field instanceof HTMLTextAreaElement ? [field.selectionStart, field.selectionEnd] : null;
  // React uses the first event to hydrate this place synchronously, and handles only the second.
  dispatchChange();
  // React takes the typed text of a textarea for its own. It tracks the field's own setter, so that it sees a change
  // from the served value only by the other one.
  if (field.value === value) field.value = servedValue(field);
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value')?.set?.call(field, value);
  if (selection && field instanceof HTMLTextAreaElement) field.setSelectionRange(...selection);
  dispatchChange();
}
