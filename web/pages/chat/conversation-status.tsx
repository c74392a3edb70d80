import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { chatWords } from '#words/chat';
import { layoutWords } from '#words/layout';
import { useConnection } from '../../data/use-conversation.ts';
import { useSession } from '../../data/session.ts';
import { sessionStream } from '../../data/session-stream.ts';

export function ConnectionStatusLine({ focusList }: { focusList: () => void }) {
  const status = useConnection();
  const isBroken = status === 'reconnecting' || status === 'lost';
  const connectAgain = () => {
    focusList();
    sessionStream.reconnect();
  };
  return (
    <>
      <output
        className={css({
          textStyle: 'small',
          color: 'muted',
          _empty: { display: 'none' },
        })}
      >
        {isBroken && (navigator.onLine ? brokenWords[status] : chatWords.offline)}
      </output>
      {status === 'lost' && (
        <button
          type="button"
          className={`${button({ look: 'outline' })} ${connect}`}
          onClick={connectAgain}
        >
          {chatWords.connect}
        </button>
      )}
    </>
  );
}

const brokenWords = { reconnecting: chatWords.reconnecting, lost: chatWords.disconnected };
const connect = css({ justifySelf: 'start' });

export function TypingIndicator({ isTyping }: { isTyping: boolean }) {
  const isStarting = useSession(({ isInitializing }) => isInitializing);
  return (
    <output className={line}>
      {isStarting && <span>{layoutWords.loadingApplication}</span>}
      {isTyping && !isStarting && (
        <>
          <span>{chatWords.writing}</span>
          <span
            className={dots}
            aria-hidden="true"
          >
            <i />
            <i />
            <i />
          </span>
        </>
      )}
    </output>
  );
}

const line = css({
  display: 'flex',
  alignItems: 'center',
  gap: '2',
  minHeight: '[2rem]',
  marginTop: '3',
  textStyle: 'small',
  color: 'muted',
});
const dots = css({
  display: 'inline-flex',
  gap: '1',
  '& i': {
    width: '[0.375rem]',
    height: '[0.375rem]',
    borderRadius: 'full',
    backgroundColor: 'edge',
    _forced: { backgroundColor: '[CanvasText]' },
    _calm: { animation: '[breathe 1.2s infinite alternate]' },
  },
  '& i:nth-child(2)': { animationDelay: '[200ms]' },
  '& i:nth-child(3)': { animationDelay: '[400ms]' },
});
