import { type RefObject, useRef } from 'react';
import { css } from '#styled/css';
import { fileWords } from '#words/files';
import { Alert } from './alert.tsx';
import { CopyButton } from './copy-button.tsx';

/** `shown`: the text is on the page already. */
type Props = { text: string; shown?: RefObject<HTMLElement | null> };

/** The way out for a file that the browser cannot save. */
export default function UnsavedFile({ text, shown }: Props) {
  const own = useRef<HTMLElement>(null);
  return (
    <div className={css({ display: 'grid', gap: '3' })}>
      <Alert look="danger">{fileWords.notSaved}</Alert>
      {!shown && (
        <section
          ref={own}
          className={paper}
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reachable by keyboard
          tabIndex={0}
          aria-label={fileWords.text}
        >
          {text}
        </section>
      )}
      <CopyButton
        of={shown ?? own}
        text={text}
        label={fileWords.copy}
      />
    </div>
  );
}

const paper = css({
  maxHeight: '[calc(var(--visual-height) / 5)]',
  overflowY: 'auto',
  padding: '4',
  borderRadius: 'md',
  backgroundColor: 'sunken',
  textStyle: 'fine',
  fontFamily: 'mono',
  whiteSpace: 'pre-wrap',
  overflowWrap: 'anywhere',
});
