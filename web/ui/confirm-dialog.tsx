import { Dialog } from '@ark-ui/react/dialog';
import { Portal } from '@ark-ui/react/portal';
import { useRef } from 'react';
import { button, dialog } from '#styled/recipes';
import { TextDirection } from './text-direction.tsx';

type Props = {
  isOpen: boolean;
  close: () => void;
  confirm: () => void;
  title: string;
  text: string;
  cancelLabel: string;
  confirmLabel: string;
  look?: 'danger' | 'primary';
};

/** Asks before an action. The focus starts on the button that changes nothing. */
export default function ConfirmDialog({ look = 'danger', ...props }: Props) {
  const { isOpen, close, confirm, title, text, cancelLabel, confirmLabel } = props;
  const styles = dialog();
  const safe = useRef<HTMLButtonElement>(null);
  return (
    <TextDirection>
      <Dialog.Root
        role="alertdialog"
        open={isOpen}
        onOpenChange={(change) => !change.open && close()}
        initialFocusEl={() => safe.current}
        lazyMount
        unmountOnExit
      >
        <Portal>
          <Dialog.Backdrop className={styles.backdrop} />
          <Dialog.Positioner className={styles.positioner}>
            <Dialog.Content className={styles.content}>
              <Dialog.Title className={styles.title}>{title}</Dialog.Title>
              <Dialog.Description className={styles.description}>{text}</Dialog.Description>
              <div className={styles.actions}>
                <button ref={safe} type="button" className={button({ look: 'outline' })} onClick={close}>
                  {cancelLabel}
                </button>
                <button
                  type="button"
                  className={look === 'danger' ? button({ look: 'danger' }) : button()}
                  onClick={confirm}
                >
                  {confirmLabel}
                </button>
              </div>
            </Dialog.Content>
          </Dialog.Positioner>
        </Portal>
      </Dialog.Root>
    </TextDirection>
  );
}
