import { Toast, Toaster, createToaster } from '@ark-ui/react/toast';
import { useEffect } from 'react';
import { toast as recipe } from '#styled/recipes';
import { notices } from '../notices.ts';
import { frameWords } from '../words/frame.ts';
import { Icon } from './icon.tsx';

const toaster = createToaster({
  placement: 'bottom-end',
  gap: 12,
  overlap: false,
  duration: 6000,
  pauseOnPageIdle: true,
});

const show = () => {
  for (const { type, title, description } of notices.take()) toaster.create({ type, title, description });
};

/** The toasts, as status messages; everything that waited is shown once the region exists. */
export default function Toasts() {
  useEffect(() => {
    // A region that is new to the page is not read out, so the first toast comes a moment after it.
    const timer = setTimeout(show, 50);
    const stop = notices.subscribe(() => queueMicrotask(show));
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
  const styles = recipe();
  return (
    <Toaster toaster={toaster}>
      {(toast) => (
        <Toast.Root className={styles.root}>
          <span className={styles.sign}>
            <Icon name={toast.type === 'error' ? 'warning' : 'check'} />
          </span>
          <div className={styles.text}>
            <Toast.Title className={styles.title}>{toast.title}</Toast.Title>
            {toast.description && (
              <Toast.Description className={styles.description}>{toast.description}</Toast.Description>
            )}
          </div>
          <Toast.CloseTrigger className={styles.close} aria-label={frameWords.dismiss}>
            <Icon name="close" />
          </Toast.CloseTrigger>
        </Toast.Root>
      )}
    </Toaster>
  );
}
