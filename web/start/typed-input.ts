import { markSelector, marksOf } from './protocol.ts';

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** React overwrites input when it takes over (https://github.com/facebook/react/issues/12955). */
export function saveTypedInput(root: HTMLElement): () => void {
  let sent = takeSent(root);
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

    // Once, and after React has rendered the restored values.
    if (sent) setTimeout(sendAgain, 0, sent);
    sent = null;
  };
}

type Sent = HTMLFormElement | HTMLButtonElement;

/** Returns what was used before React listened, without its mark, which React does not expect. */
function takeSent(root: HTMLElement): Sent | null {
  const sent = root.querySelector<Sent>(markSelector('sent', 'early'));
  if (sent) delete marksOf(sent).sent;
  return sent;
}

function sendAgain(sent: Sent): void {
  if ('requestSubmit' in sent) sent.requestSubmit();
  else sent.click();
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

  // React records what the field's own setter sets, and then sees no change: this takes the
  // prototype's.
  if (field.value === value) field.value = servedValue(field);
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value')?.set?.call(field, value);
  if (selection && field instanceof HTMLTextAreaElement) field.setSelectionRange(...selection);

  dispatchChange();
}
