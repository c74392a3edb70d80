import { Link } from '@tanstack/react-router';
import { Suspense, useEffect, useRef, useState, type Ref, type RefObject } from 'react';
import type { Output } from '#contract/endpoints';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { withdrawWords } from '#words/withdraw';
import { openAfterLoading } from '../../data/error-toasts.ts';
import { lazyWithFallback } from '../../data/loaded-parts.tsx';
import { formatInstant } from '../../rules/receipt-view.ts';
import { Card } from '../../ui/card.tsx';
import { Facts } from '../../ui/facts.tsx';

export type Receipt = {
  state: Output<'withdraw'>['statement']['state'];
  receipt: string;
  /** When it goes by e-mail, and null if it does not; missing where no address was given. */
  mail?: Output<'withdraw'>['mail'] | undefined;
  /** The amount, where it is known. */
  refund?: string | undefined;
};

type Props = Receipt & { hasAccount: boolean };

const loadSaving = () => import('../../data/save-file.ts');
const UnsavedFile = lazyWithFallback(() => import('../../ui/unsaved-file.tsx'));

/** The confirmation with its date and time, also as a file, and where the money is. */
export function ReceiptCard({ state, receipt, mail, refund, hasAccount }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const text = useRef<HTMLElement>(null);
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
      {refund && <Facts facts={[{ name: withdrawWords.refund, text: refund }]} />}
      <p>{withdrawWords.keep}</p>
      {mail !== undefined && <p>{sentenceOn(mail)}</p>}
      <ReceiptText
        ref={text}
        receipt={receipt}
      />
      <SaveReceipt
        receipt={receipt}
        shown={text}
      />
      {hasAccount && (
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

function ReceiptText({ ref, receipt }: { ref: Ref<HTMLElement>; receipt: string }) {
  return (
    <section
      ref={ref}
      className={paper}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reachable by keyboard
      tabIndex={0}
      aria-label={withdrawWords.receipt}
    >
      {receipt}
    </section>
  );
}

type SaveProps = { receipt: string; shown: RefObject<HTMLElement | null> };

function SaveReceipt({ receipt, shown }: SaveProps) {
  const [isUnsaved, setUnsaved] = useState(false);
  const save = () =>
    openAfterLoading(loadSaving, ({ saveFile }) => {
      void saveFile(fileOf(receipt)).then((isSaved) => setUnsaved(!isSaved));
    });

  return (
    <>
      <button
        type="button"
        className={button({ look: 'soft', wide: true })}
        onClick={save}
      >
        {withdrawWords.save}
      </button>
      <Suspense>
        {isUnsaved && (
          <UnsavedFile
            text={receipt}
            shown={shown}
          />
        )}
      </Suspense>
    </>
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

const fileOf = (receipt: string) =>
  new File([`${receipt}\n`], 'withdrawal.txt', { type: 'text/plain' });
