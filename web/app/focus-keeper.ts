/** Moves the focus of a removed element to what is near: on the body, keyboard users would begin at the top. */
export function keepFocus(): void {
  /** The focused element and its ancestors, the nearest first. */
  let path: HTMLElement[] = [];
  addEventListener('focusin', ({ target }) => {
    path = target instanceof HTMLElement ? ancestorsOf(target) : [];
  });
  new MutationObserver(() => {
    if (document.activeElement !== document.body || path[0]?.isConnected !== false) return;
    const nearest = path.find((element) => element.isConnected && element.matches(places));
    path = [];
    if (nearest) focusPlace(nearest);
  }).observe(document, { childList: true, subtree: true });
}

const places = 'main, section, form, fieldset, article, header, ul, ol, dialog, [tabindex]';

function ancestorsOf(element: HTMLElement): HTMLElement[] {
  const parent = element.parentElement;
  return parent ? [element, ...ancestorsOf(parent)] : [element];
}

function focusPlace(element: HTMLElement): void {
  if (!element.hasAttribute('tabindex')) {
    element.tabIndex = -1;
    element.addEventListener('blur', () => element.removeAttribute('tabindex'), { once: true });
  }
  element.focus({ preventScroll: true });
}
