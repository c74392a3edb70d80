import { useId, useLayoutEffect, useRef, type MouseEvent, type ReactNode } from 'react';
import { button, dialog } from '#styled/recipes';

type DialogProps = { title: string; question?: ReactNode; close: () => void; children: ReactNode };

/**
 * Closes on a close request: Escape, or Back on Android (Chrome 126, Firefox 149). Without a question it also closes on
 * a press outside.
 */
export function Dialog({ title, question, close, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  const styles = dialog();
  const isQuestion = question !== undefined;

  useLayoutEffect(() => {
    const shown = element.current;
    const { style } = document.documentElement;
    const { overflow } = style;
    shown?.showModal();
    style.overflow = 'hidden';
    // A long text begins at its top, a question at the button that changes nothing.
    if (!isQuestion) shown?.focus();
    // Removed while open it would not give the focus back.
    return () => {
      shown?.close();
      style.overflow = overflow;
    };
  }, [isQuestion]);

  return (
    <dialog
      ref={element}
      className={styles.root}
      {...(isQuestion
        ? { role: 'alertdialog', 'aria-describedby': `${id}question` }
        : { closedby: 'any', tabIndex: -1, onClick: closeOutside(close) })}
      aria-labelledby={`${id}title`}
      onCancel={close}
    >
      <div className={styles.content}>
        <h2
          id={`${id}title`}
          className={styles.title}
        >
          {title}
        </h2>
        {isQuestion && (
          <p
            id={`${id}question`}
            className={styles.question}
          >
            {question}
          </p>
        )}
        {children}
      </div>
    </dialog>
  );
}

/** For browsers without `closedby`: the backdrop's target is the dialog. */
const closeOutside = (close: () => void) => (event: MouseEvent<HTMLDialogElement>) => {
  const { target, currentTarget, clientX, clientY } = event;
  if (target !== currentTarget) return;
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect();
  const isBeside = clientX < left || clientX > right;
  const isAboveOrBelow = clientY < top || clientY > bottom;
  if (isBeside || isAboveOrBelow) close();
};

type Props = {
  close: () => void;
  confirm: () => void;
  title: string;
  text: ReactNode;
  cancelLabel: string;
  confirmLabel: string;
  look?: 'danger' | 'primary';
};

/** Focuses the button that changes nothing. */
export default function ConfirmDialog({ look = 'danger', ...props }: Props) {
  const { close, confirm, title, text, cancelLabel, confirmLabel } = props;
  return (
    <Dialog
      title={title}
      question={text}
      close={close}
    >
      <div className={dialog().actions}>
        <button
          type="button"
          className={button({ look: 'outline' })}
          onClick={close}
        >
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
    </Dialog>
  );
}
