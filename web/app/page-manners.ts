import { sayWhyReloaded } from './deployment-change.ts';
import { keepFocus } from './focus-keeper.ts';
import { layoutWords } from '#words/layout';
import { session } from '../data/session.ts';
import { closeShownNotices } from '../data/shown-notices.ts';
import { showToast } from '../data/toasts.ts';

/** What every page minds from when it can be used. Loaded after it, so that it costs no page its start. */
export function mind(): void {
  keepFocus();
  refuseFiles();
  ignoreHeldEnter();
  closeNoticesWithSession();
  sayWhyReloaded();
}

/** Files that are dropped would replace the page, and pasted ones vanish without a word. Texts pass. */
function refuseFiles(): void {
  addEventListener('dragover', (event) => {
    if (hasFiles(event.dataTransfer)) event.preventDefault();
  });
  addEventListener('drop', (event) => {
    if (!hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    sayWhy();
  });
  addEventListener('paste', ({ clipboardData }) => {
    if (hasFiles(clipboardData) && !clipboardData?.getData('text/plain')) sayWhy();
  });
}

const hasFiles = (data: DataTransfer | null) => data?.types.includes('Files') ?? false;

const sayWhy = () => showToast({ type: 'error', title: layoutWords.noFiles });

/** A key that is held sends its press again and again, to a form or button that may be another one by then. */
function ignoreHeldEnter(): void {
  addEventListener(
    'keydown',
    (event) => {
      const isText = event.target instanceof HTMLTextAreaElement;
      if (event.repeat && event.key === 'Enter' && !isText) event.preventDefault();
    },
    { capture: true },
  );
}

/** A notice of a reply to somebody who is no longer signed in here is not for whoever holds the device. */
function closeNoticesWithSession(): void {
  let token = session.get().token;
  session.subscribe(() => {
    const before = token;
    token = session.get().token;
    if (before !== null && before !== token) void closeShownNotices();
  });
}
