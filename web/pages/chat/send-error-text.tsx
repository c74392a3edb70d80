import { Link } from '@tanstack/react-router';
import { css } from '#styled/css';
import { link } from '#styled/recipes';
import { Alert } from '../../ui/alert.tsx';
import { chatWords, composerWords } from '../../words/chat.ts';
import type { SendError } from './use-send-message.ts';

type Props = { id: string; error: SendError; openHelp: () => void };

/** The reason why a message was not sent, and what to do; with help beside a spent allowance. */
export function SendErrorText({ id, error, openHelp }: Props) {
  return (
    <div id={id}>
      <Alert look="danger">
        {error.text}
        {error.isSpent && (
          <span className={css({ display: 'flex', flexWrap: 'wrap', gap: '4' })}>
            <Link to="/plans" className={link()}>
              {composerWords.plans}
            </Link>
            <button type="button" className={link()} onClick={openHelp}>
              {chatWords.help}
            </button>
          </span>
        )}
      </Alert>
    </div>
  );
}
