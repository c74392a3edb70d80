import { sayWhyReloaded } from './deployment-change.ts';
import { keepFocus } from './focus-keeper.ts';
import { layoutWords } from '#words/layout';
import { session } from '../data/session.ts';
import { closeShownNotices } from '../data/shown-notices.ts';
import { showToast } from '../data/toasts.ts';

/** Loaded after the page, so that it costs no page its start. */
export function mind(): void {
  keepFocus();
  refuseFiles();
  ignoreHeldEnter();
  closeNoticesWithSession();
  sayWhyReloaded();
}

/** Dropped files would replace the page, pasted ones vanish. */
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

/** A held key presses again, on what may be another button by then. */
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

/** Another person may hold the device. */
function closeNoticesWithSession(): void {
  let token = session.get().token;
  session.subscribe(() => {
    const before = token;
    token = session.get().token;
    if (before !== null && before !== token) void closeShownNotices();
  });
}
