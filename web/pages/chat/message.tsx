import { css } from '#styled/css';
import { button, link } from '#styled/recipes';
import { formatTime } from '../../rules/format-date.ts';
import { messageParts, type MessagePart } from '../../rules/message-parts.ts';
import type { ShownMessage } from '../../rules/shown-messages.ts';
import { ExternalLink } from '../../ui/external-link.tsx';
import { visuallyHidden } from '../../ui/visually-hidden.tsx';
import { chatWords, messageStateWords } from '../../words/chat.ts';

type Props = { message: ShownMessage; sendAgain: (id: string, text: string) => void; openHelp: () => void };

/** One message. The user's own are not announced to screen readers. */
export function Message({ message, sendAgain, openHelp }: Props) {
  const { id, author, text, at, state, crisis } = message;
  const isOwn = author === 'user';
  const canResend = state === 'failed' || state === 'unsent';
  return (
    <li className={bubble} data-author={author} data-state={state} aria-live={isOwn ? 'off' : undefined}>
      <span className={visuallyHidden}>{isOwn ? chatWords.youSaid : chatWords.companionSaid}: </span>
      <div className={css({ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', unicodeBidi: 'isolate' })} dir="auto">
        {messageParts(text).map((part, index) => (
          <Part key={index} {...part} />
        ))}
      </div>
      {crisis && (
        <button type="button" className={button({ look: 'dangerSoft' })} data-opens="help" onClick={openHelp}>
          {chatWords.help}
        </button>
      )}
      <p className={meta}>
        <time dateTime={at}>{formatTime(at)}</time>
        {isOwn && <span>{messageStateWords[state]}</span>}
        {isOwn && canResend && (
          <button type="button" className={again} onClick={() => sendAgain(id, text)}>
            {messageStateWords.sendAgain}
          </button>
        )}
      </p>
    </li>
  );
}

function Part(part: MessagePart) {
  if (part.kind === 'link')
    return (
      <ExternalLink href={part.href} className={link()}>
        {part.text}
      </ExternalLink>
    );
  if (part.kind === 'bold') return <strong>{part.text}</strong>;
  return part.kind === 'italic' ? <em>{part.text}</em> : part.text;
}

const bubble = css({
  display: 'grid',
  gap: '1',
  width: '[fit-content]',
  maxWidth: '[min(36rem, 88%)]',
  paddingInline: '4',
  paddingBlock: '3',
  borderRadius: 'lg',
  _forced: { borderWidth: 'thin' },
  '&[data-author=solace]': { borderEndStartRadius: 'sm', backgroundColor: 'raised', boxShadow: 'card' },
  '&[data-author=user]': { alignSelf: 'flex-end', borderEndEndRadius: 'sm', backgroundColor: 'primarySoft' },
  '&[data-state=failed], &[data-state=unsent]': { backgroundColor: 'dangerSoft' },
  '& strong': { fontWeight: 'bold' },
});
const meta = css({
  display: 'flex',
  flexWrap: 'wrap',
  alignItems: 'center',
  columnGap: '2',
  textStyle: 'fine',
  color: 'muted',
});
const again = css({ minHeight: '[1.5rem]', textDecoration: 'underline', fontWeight: 'semibold', color: 'danger' });
