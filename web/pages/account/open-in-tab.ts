import { notify } from '../../data/notices.ts';

export type OpeningWords = { opened: string; openedText: string; redirect: string; redirectText?: string };

const redirectDelay = 500;

/** Opens an address in a new tab; where the browser forbids that, in this one after half a second. */
export function openInTab(url: string, say: OpeningWords): void {
  const tab = window.open(url, '_blank');
  if (tab) {
    tab.opener = null;
    return notify({ type: 'success', title: say.opened, description: say.openedText });
  }
  notify({ type: 'success', title: say.redirect, ...(say.redirectText ? { description: say.redirectText } : {}) });
  setTimeout(() => location.assign(url), redirectDelay);
}
