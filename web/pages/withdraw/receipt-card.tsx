import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { Output } from '#contract/endpoints';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { withdrawWords } from '#words/withdraw';
import { formatInstant } from '../../rules/withdrawal-view.ts';
import { Card } from '../../ui/card.tsx';

export type Receipt = {
  state: Output<'withdraw'>['statement']['state'];
  receipt: string;
  /** When it goes by e-mail, and null if it does not; missing where no address was given. */
  mail?: Output<'withdraw'>['mail'] | undefined;
};

/** The confirmation with its date and time, also as a file, and where the money is. */
export function ReceiptCard({ state, receipt, mail, isMember }: Receipt & { isMember: boolean }) {
  const heading = useRef<HTMLHeadingElement>(null);
  // The button with the focus is gone.
  useEffect(() => heading.current?.focus(), []);
  return (
    <Card id="done">
      <h2
        id="done"
        ref={heading}
        tabIndex={-1}
        className={css({ textStyle: 'subheading', outline: 'none' })}
      >
        {withdrawWords.doneTitle}
      </h2>
      <p>{withdrawWords.states[state]}</p>
      <p>{withdrawWords.keep}</p>
      {mail !== undefined && <p>{sentenceOn(mail)}</p>}
      <section
        className={paper}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label={withdrawWords.receipt}
      >
        {receipt}
      </section>
      <button
        type="button"
        className={button({ look: 'soft', wide: true })}
        onClick={() => save(receipt)}
      >
        {withdrawWords.save}
      </button>
      {isMember && (
        <Link
          to="/account"
          className={button({ look: 'quiet', wide: true })}
        >
          {withdrawWords.account}
        </Link>
      )}
    </Card>
  );
}

function sentenceOn(mail: NonNullable<Receipt['mail']> | null): string {
  if (mail === null) return withdrawWords.notMailed;
  return mail.isDelayed ? withdrawWords.mailedLater(formatInstant(mail.at)) : withdrawWords.mailed;
}

const paper = css({
  padding: '4',
  borderRadius: 'md',
  backgroundColor: 'sunken',
  textStyle: 'small',
  whiteSpace: 'pre-wrap',
  overflowWrap: 'anywhere',
});

function save(receipt: string): void {
  const url = URL.createObjectURL(new Blob([`${receipt}\n`], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = 'withdrawal.txt';
  link.click();
  URL.revokeObjectURL(url);
}
