/** An element as people name it: by its role and name, or by its label. */
export type Target = {
  role:
    | 'button'
    | 'link'
    | 'textbox'
    | 'checkbox'
    | 'radio'
    | 'heading'
    | 'alert'
    | 'dialog'
    | 'listitem';
  /** The whole accessible name, or a part of it. */
  name?: string | RegExp;
  /** Looks inside the elements of this selector alone. */
  within?: string;
  /** Counts from 0; the last one by -1. */
  nth?: number;
};

export type Found = {
  text: string;
  value: string;
  isFocused: boolean;
  isDisabled: boolean;
  isChecked: boolean;
  isInvalid: boolean;
  /** In pixels of the viewport. */
  box: { x: number; y: number; width: number; height: number };
  /** Nothing else lies over its centre. */
  isOnTop: boolean;
};

type Query = Omit<Target, 'name'> & { name?: string; pattern?: string };

/** As a message for the page, which takes no regular expressions. */
export function queryOf({ name, ...target }: Target): Query {
  if (name === undefined) return target;
  return name instanceof RegExp
    ? {
        ...target,
        pattern: name.source,
      }
    : {
        ...target,
        name,
      };
}

/** Runs in the page. Scrolls the element to the middle if asked to. */
export function find(query: Query, scrolls: boolean): Found | null {
  const selectors = {
    button: 'button, summary, [role=button]',
    link: 'a[href]',
    textbox: 'input:not([type=checkbox], [type=radio]), textarea',
    checkbox: 'input[type=checkbox]',
    radio: 'input[type=radio], [role=radio]',
    heading: 'h1, h2, h3, h4',
    alert: '[role=alert]',
    dialog: 'dialog, [role=dialog], [role=alertdialog]',
    listitem: 'li',
  };
  const plain = (text: string | null | undefined) => (text ?? '').replace(/\s+/g, ' ').trim();
  const textOf = (ids: string | null) =>
    plain(
      (ids ?? '')
        .split(' ')
        .map((id) => document.getElementById(id)?.innerText)
        .join(' '),
    );
  // WebKit ends its process when it frees a field's own list of labels.
  const allLabels = [...document.querySelectorAll('label')];
  const labels = (element: Element) => allLabels.filter(({ control }) => control === element);
  const nameOf = (element: HTMLElement) =>
    plain(element.ariaLabel) ||
    textOf(element.getAttribute('aria-labelledby')) ||
    plain(
      labels(element)
        .map(({ innerText }) => innerText)
        .join(' '),
    ) ||
    plain(element.innerText);
  const fits = (element: HTMLElement) => {
    if (query.pattern !== undefined) return new RegExp(query.pattern).test(nameOf(element));
    return query.name === undefined || nameOf(element) === query.name;
  };

  const roots = query.within ? [...document.querySelectorAll(query.within)] : [document];
  const elements = roots
    .flatMap((root) => [...root.querySelectorAll<HTMLElement>(selectors[query.role])])
    .filter((element) => element.checkVisibility({ visibilityProperty: true }) && fits(element));
  const element = elements.at(query.nth ?? 0);
  if (!element) return null;

  window.found = element;
  if (scrolls)
    element.scrollIntoView({
      block: 'center',
      behavior: 'instant',
    });
  const { x, y, width, height } = element.getBoundingClientRect();
  const top = document.elementFromPoint(x + width / 2, y + height / 2);
  const input = element as HTMLInputElement;
  return {
    text: plain(element.innerText),
    value: input.value ?? '',
    isFocused: document.activeElement === element,
    isDisabled: element.matches(':disabled, [aria-disabled=true]'),
    isChecked: input.checked || element.ariaChecked === 'true',
    isInvalid: element.ariaInvalid === 'true',
    box: { x, y, width, height },
    isOnTop: top !== null && (element.contains(top) || top.contains(element)),
  };
}

declare global {
  interface Window {
    /** The element that was found last. */
    found?: Element;
    /** Whether the last click was at the element that was meant; undefined on a new page. */
    wasHit?: boolean;
  }
}

/** Runs in the page. Watches the next click, since a page that grows moves what is at a point. */
export function expectClick(): void {
  window.wasHit = false;
  const meant = window.found;
  const note = (event: Event) => (window.wasHit = event.composedPath().includes(meant!));
  addEventListener('click', note, { once: true, capture: true });
}
