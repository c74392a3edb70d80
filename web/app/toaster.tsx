import { Toast, Toaster as ToastRegion, createToaster } from '@ark-ui/react/toast';
import { useEffect } from 'react';
import { toast as recipe } from '#styled/recipes';
import { toasts } from '../data/toasts.ts';
import { layoutWords } from '#words/layout';
import { Icon } from '../ui/icons.tsx';
import { RefreshPage } from '../ui/refresh-page.tsx';
import { TextDirection } from '../ui/text-direction.tsx';

/** At the bottom it would cover the chat's field, or lie under the keyboard. */
const isPhone = matchMedia('(max-width: 48rem)').matches;

const toaster = createToaster({
  placement: isPhone ? 'top' : 'bottom-start',
  gap: 12,
  overlap: false,
  duration: 6000,
  pauseOnPageIdle: true,
});

/** Toasts wait: screen readers reach nothing outside a modal dialog. */
const show = () => {
  const dialog = document.querySelector('dialog:modal');
  if (dialog) return dialog.addEventListener('close', show, { once: true });
  const taken = toasts.take();
  for (const { reloads, ...toast } of taken.toasts)
    toaster.create(reloads ? { ...toast, duration: Infinity, meta: { reloads } } : toast);
  for (const id of taken.dismissed) toaster.dismiss(id);
};

export default function Toaster() {
  useEffect(() => {
    // A live region that appears with its content is not announced.
    const timer = setTimeout(show, 50);
    const stop = toasts.subscribe(() => queueMicrotask(show));
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
  const styles = recipe();
  return (
    <TextDirection>
      <ToastRegion toaster={toaster}>
        {(toast) => (
          <Toast.Root className={styles.root}>
            <span className={styles.sign}>
              <Icon name={toast.type === 'error' ? 'warning' : 'check'} />
            </span>
            <div className={styles.text}>
              <Toast.Title className={styles.title}>{toast.title}</Toast.Title>
              {toast.description && (
                <Toast.Description className={styles.description}>
                  {toast.description}
                </Toast.Description>
              )}
              {toast.meta?.['reloads'] && <RefreshPage />}
            </div>
            <Toast.CloseTrigger
              className={styles.close}
              aria-label={layoutWords.dismiss}
            >
              <Icon name="close" />
            </Toast.CloseTrigger>
          </Toast.Root>
        )}
      </ToastRegion>
    </TextDirection>
  );
}
