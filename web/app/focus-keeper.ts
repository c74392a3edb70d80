/**
 * Keeps the focus near what was done. A browser gives it to the page's body when the focused element is removed, and
 * people who use a keyboard or a screen reader would begin again at the top.
 */
export function keepFocus(): void {
  /** The element that had the focus last, and those around it, the nearest first. */
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

/** It can have the focus until it loses it. */
function focusPlace(element: HTMLElement): void {
  if (!element.hasAttribute('tabindex')) {
    element.tabIndex = -1;
    element.addEventListener('blur', () => element.removeAttribute('tabindex'), { once: true });
  }
  element.focus({ preventScroll: true });
}
