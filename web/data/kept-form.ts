import { useEffect, useRef, useState, type FormEvent, type RefObject } from 'react';
import * as v from 'valibot';
import { keptInTab } from './kept-in-tab.ts';
import { session, useSession } from './session.ts';

type Texts = Record<string, string | undefined>;
type Rules = v.GenericSchema<unknown, Texts>;
type Name = 'contact' | 'statement';

/** Keeps a form for its tab and person until it is sent. `known` fills empty fields. */
export function useKeptForm(name: Name, rules: Rules, known: Texts = {}) {
  const [errors, setErrors] = useState<Texts>({});
  const ref = useRef<HTMLFormElement>(null);
  const token = useSession((current) => current.token);
  const ownerRef = useFormOwner(name, ref, known);

  const noteInput = (event: FormEvent<HTMLFormElement>) => {
    const typed = textsOf(event.currentTarget);
    ownerRef.current ??= session.get().token;
    // The forms of guests and members share what is kept.
    keptInTab.keep(name, ownerRef.current, { ...readKept(name, ownerRef.current), ...typed });
    const found = errorsOf(rules, typed);
    setErrors((shown) => onlyFields(shown, found));
  };

  /** Returns the texts; null if one is wrong, whose field then has the focus. */
  const check = (form: HTMLFormElement): Texts | null => {
    const typed = textsOf(form);
    const found = errorsOf(rules, typed);
    setErrors(found);
    const wrong = fieldsOf(form).find((field) => field.name in found);
    if (!wrong) return typed;
    focusField(wrong);
    return null;
  };

  const clear = () => {
    ref.current?.reset();
    keptInTab.remove(name, ownerRef.current);
    ownerRef.current = token;
  };

  /** Method `dialog`: a native submission would put texts into the address. */
  const form = { ref, noValidate: true, method: 'dialog', 'data-kept': '', onInput: noteInput };
  return { form, errors, check, clear };
}

/** Returns the token of the person who writes, also after the session ended by itself. */
function useFormOwner(name: Name, form: RefObject<HTMLFormElement | null>, known: Texts) {
  const token = useSession((current) => current.token);
  const owner = useRef<string | null>(null);

  useEffect(() => {
    // A hydrating page does not know the session yet.
    const current = token ?? session.get().token;
    if (keptInTab.isWriterGone(owner.current, current)) {
      form.current?.reset();
      owner.current = null;
    }

    owner.current = current ?? keptInTab.takeInterruptedWriter(name) ?? owner.current;
    fillEmptyFields(form.current, { ...known, ...readKept(name, owner.current) });

    return () => {
      if (token !== null && session.get().token === null)
        keptInTab.noteInterruptedWriter(name, token);
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- what is known does not change
  }, [token]);

  return owner;
}

const readKept = (name: Name, owner: string | null): Texts =>
  readTexts(keptInTab.read(name, owner));

type Field = HTMLInputElement | HTMLTextAreaElement;

const fieldsOf = (form: HTMLFormElement | null): Field[] => [
  ...(form?.querySelectorAll<Field>('input, textarea') ?? []),
];

const textsOf = (form: HTMLFormElement): Texts =>
  Object.fromEntries(fieldsOf(form).map(({ name, value }) => [name, value]));

function readTexts(kept: unknown): Texts {
  const all = Object.entries<unknown>(Object(kept));
  return Object.fromEntries(
    all.flatMap(([name, text]) => (typeof text === 'string' && text ? [[name, text]] : [])),
  );
}

/** People type before the app has started. */
function fillEmptyFields(form: HTMLFormElement | null, texts: Texts): void {
  for (const field of fieldsOf(form)) {
    const text = texts[field.name];
    if (!field.value && text) field.value = text;
  }
}

function focusField(field: Field): void {
  // WebKit would scroll the label below the header.
  field.focus({ preventScroll: true });
  field.scrollIntoView({ block: 'center', behavior: 'instant' });
}

function errorsOf(rules: Rules, typed: Texts): Texts {
  const { success, issues } = v.safeParse(rules, typed, { abortPipeEarly: true });
  if (success) return {};

  const { nested = {} } = v.flatten(issues) as { nested?: Record<string, string[]> };
  const firstErrors = Object.entries(nested).map(([field, texts]) => [field, texts[0]]);
  return Object.fromEntries(firstErrors);
}

function onlyFields(shown: Texts, wrong: Texts): Texts {
  return Object.fromEntries(Object.entries(shown).filter(([field]) => field in wrong));
}
