type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/**
 * Saves the input that a visitor has entered into the prerendered fields, and whether the form was submitted. The
 * returned function restores both once React has hydrated the page, because React starts with the served values.
 */
export function saveTypedInput(root: HTMLElement): () => void {
  const submitted = root.querySelector<HTMLFormElement>('form[data-sent]');
  delete submitted?.dataset['sent'];
  const fields = [...root.querySelectorAll<Field>('input, textarea, select')];
  const typed = fields.filter((field) => field.value !== servedValue(field));
  const values = typed.map((field) => [field, field.value] as const);
  return () => {
    for (const [field, value] of values) typeAgain(field, value);
    // After React has rendered the restored values.
    if (submitted) setTimeout(() => submitted.requestSubmit());
  };
}

function servedValue(field: Field): string {
  if (!(field instanceof HTMLSelectElement)) return field.defaultValue;
  return [...field.options].find(({ defaultSelected }) => defaultSelected)?.value ?? '';
}

function typeAgain(field: Field, value: string): void {
  const type = field instanceof HTMLSelectElement ? 'change' : 'input';
  const dispatchChange = () => field.dispatchEvent(new Event(type, { bubbles: true }));
  // React uses the first event to hydrate this place synchronously, and handles only the second.
  dispatchChange();
  // React tracks the field's own setter and would see no change.
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value')?.set?.call(field, value);
  dispatchChange();
}
