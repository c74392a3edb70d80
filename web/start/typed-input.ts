import { markSelector, marksOf } from './protocol.ts';

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** React overwrites input when it takes over (https://github.com/facebook/react/issues/12955). */
export function saveTypedInput(root: HTMLElement): () => void {
  const takeSent = noteSent(root);
  const fields = () => [...root.querySelectorAll<Field>('input, textarea, select')];
  const typed = new Map<string, string>();
  const note = (field: Field) => typed.set(nameOf(field), field.value);

  fields().filter(isTouched).forEach(note);
  root.addEventListener('input', ({ target }) => note(target as Field));

  return () => {
    const values = new Map(typed);
    for (const field of fields()) {
      const value = values.get(nameOf(field));
      if (value) typeAgain(field, value);
    }
    // After React has rendered the restored values.
    const again = takeSent();
    if (again) setTimeout(again);
  };
}

function noteSent(root: HTMLElement): () => (() => void) | null {
  let sent = root.querySelector<HTMLFormElement | HTMLButtonElement>(markSelector('sent', 'early'));
  if (sent) delete marksOf(sent).sent;
  return () => {
    const again = sent;
    sent = null;
    if (again === null) return null;
    return () => ('requestSubmit' in again ? again.requestSubmit() : again.click());
  };
}

const nameOf = ({ id, name }: Field) => name || id;
const isTouched = (field: Field) => field.value !== servedValue(field);

function servedValue(field: Field): string {
  if (!(field instanceof HTMLSelectElement)) return field.defaultValue;
  return [...field.options].find(({ defaultSelected }) => defaultSelected)?.value ?? '';
}

function typeAgain(field: Field, value: string): void {
  const type = field instanceof HTMLSelectElement ? 'change' : 'input';
  const dispatchChange = () => field.dispatchEvent(new Event(type, { bubbles: true }));
  const selection: [number, number] | null =
    field instanceof HTMLTextAreaElement ? [field.selectionStart, field.selectionEnd] : null;
  // React hydrates this place by the first event, and handles only the second.
  dispatchChange();
  // React tracks the field's own setter: only the prototype's makes a change.
  if (field.value === value) field.value = servedValue(field);
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value')?.set?.call(field, value);
  if (selection && field instanceof HTMLTextAreaElement) field.setSelectionRange(...selection);
  dispatchChange();
}
