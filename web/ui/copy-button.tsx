import { type RefObject, useState } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { contactWayWords } from '#words/contact-way';

type Props = { of: RefObject<HTMLElement | null>; text: string; label: string };

export function CopyButton({ of, text, label }: Props) {
  const [outcome, setOutcome] = useState('');

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome(contactWayWords.copied);
    } catch {
      // Not allowed to copy: one key copies the selected text.
      getSelection()?.selectAllChildren(of.current!);
      setOutcome(contactWayWords.copyFailed);
    }
  };

  return (
    <>
      <button
        type="button"
        className={button({ look: 'outline' })}
        onClick={() => void copy()}
      >
        {label}
      </button>
      <output className={css({ textStyle: 'small' })}>{outcome}</output>
    </>
  );
}
