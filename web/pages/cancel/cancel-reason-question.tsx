import { useState } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { requestWithToast } from '../../data/api-client.ts';
import { cancelReasonWords } from '#words/cancel';

type Reason = keyof typeof cancelReasonWords.reasons;

const reasons = Object.entries(cancelReasonWords.reasons) as [Reason, string][];

/** A click on a reason is the whole reply. */
export function CancelReasonQuestion() {
  const [given, setGiven] = useState<Reason | null>(null);
  const give = async (reason: Reason) => {
    if (given !== null) return;
    setGiven(reason);
    // The question stays after a failure.
    await requestWithToast('giveCancelReason', { reason }).catch(() => setGiven(null));
  };
  if (given !== null)
    return <output className={css({ color: 'muted' })}>{cancelReasonWords.thanks}</output>;
  return (
    <fieldset className={css({ display: 'grid', gap: '3' })}>
      <legend className={css({ fontWeight: 'semibold', marginBottom: '1' })}>
        {cancelReasonWords.question}
      </legend>
      <p className={css({ textStyle: 'small', color: 'muted' })}>{cancelReasonWords.optional}</p>
      <div className={css({ display: 'flex', flexWrap: 'wrap', gap: '2' })}>
        {reasons.map(([reason, text]) => (
          <button
            key={reason}
            type="button"
            className={button({ look: 'soft' })}
            onClick={() => void give(reason)}
          >
            {text}
          </button>
        ))}
      </div>
    </fieldset>
  );
}
