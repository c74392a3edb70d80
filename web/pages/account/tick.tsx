import { css } from '#styled/css';
import { Icon } from '../../ui/icon.tsx';
import { visuallyHidden } from '../../ui/visually-hidden.tsx';
import { compareWords } from '../../words/account.ts';

/** A tick or a dash, with a text for screen readers. */
export function Tick({ isIncluded }: { isIncluded: boolean }) {
  return (
    <span className={isIncluded ? included : missing}>
      <Icon name={isIncluded ? 'check' : 'dash'} />
      <span className={visuallyHidden}>{isIncluded ? compareWords.yes : compareWords.no}</span>
    </span>
  );
}

const included = css({ display: 'inline-grid', color: 'primary' });
const missing = css({ display: 'inline-grid', color: 'muted' });
