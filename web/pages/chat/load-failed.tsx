import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { Alert } from '../../ui/alert.tsx';
import { chatWords } from '../../words/chat.ts';

/** Shown if the conversation could not be loaded, with a button to retry. */
export function LoadFailed({ retry }: { retry: () => void }) {
  return (
    <div className={css({ display: 'grid', gap: '4', justifyItems: 'center', margin: 'auto', padding: 'gutter' })}>
      <Alert look="danger">{chatWords.loadFailed}</Alert>
      <button type="button" className={button({ look: 'soft' })} onClick={retry}>
        {chatWords.tryAgain}
      </button>
    </div>
  );
}
