import type { ReactNode } from 'react';
import {
  growingText,
  messageBlocks,
  messageParts,
  type MessageBlock,
  type MessagePart,
} from '../../rules/message-text.ts';
import { formatTime, type ShownMessage, type TranscriptItem } from '../../rules/transcript.ts';
import { css } from '#styled/css';
import { button, link, spoken } from '#styled/recipes';
import { dateText } from '#words/intl';
import { ExternalLink } from '../../ui/external-link.tsx';
import { visuallyHidden } from '../../ui/visually-hidden.ts';
import { chatWords, messageStateWords } from '#words/chat';

type Props = {
  item: TranscriptItem<ShownMessage>;
  sendAgain: (message: ShownMessage) => void;
  openHelp: () => void;
  player: (message: ShownMessage) => ReactNode;
};

/** No hooks: `start/chat/` renders it before React. */
export function TranscriptLine({ item, ...actions }: Props) {
  if (item.kind === 'day') return <Day at={item.at} />;
  if (item.kind === 'aiNotice') return <AiNotice />;
  return (
    <Message
      message={item.message}
      {...actions}
    />
  );
}

type MessageProps = Omit<Props, 'item'> & { message: ShownMessage };

function Message({ message, sendAgain, openHelp, player }: MessageProps) {
  const { author, text, at, state, crisis, voice } = message;
  const isOwn = author === 'user';
  const canResend = isOwn && (state === 'failed' || state === 'unsent');
  return (
    <li
      className={bubble}
      data-author={author}
      data-state={state}
      aria-live={isOwn ? 'off' : undefined}
    >
      <span className={spoken({ onPaper: true })}>
        {`${isOwn ? chatWords.youSaid : chatWords.companionSaid}: `}
      </span>
      {voice && player(message)}
      {text && <MessageText blocks={isOwn ? [{ kind: 'text', text }] : messageBlocks(text)} />}
      {crisis && (
        <button
          type="button"
          className={button({ look: 'dangerSoft' })}
          onClick={openHelp}
        >
          {chatWords.help}
        </button>
      )}
      <p className={meta}>
        <time dateTime={at}>{formatTime(at)}</time>
        {isOwn && <span>{messageStateWords.states[state]}</span>}
        {canResend && (
          <button
            type="button"
            className={again}
            aria-label={`${messageStateWords.sendAgain}: ${/^.{0,60}/su.exec(text)?.[0] || formatTime(at)}`}
            onClick={() => sendAgain(message)}
          >
            {messageStateWords.sendAgain}
          </button>
        )}
      </p>
    </li>
  );
}

const MessageText = ({ blocks }: { blocks: MessageBlock[] }) => (
  <div
    className={messageText}
    dir="auto"
  >
    {blocks.map((block, index) => (
      <Block
        key={index}
        {...block}
      />
    ))}
  </div>
);

function Block(block: MessageBlock) {
  if (block.kind !== 'list') {
    const parts = <Parts text={block.text} />;
    return <p>{block.kind === 'heading' ? <strong>{parts}</strong> : parts}</p>;
  }
  const items = block.items.map((item, index) => (
    <li key={index}>
      <Parts text={item} />
    </li>
  ));
  return block.start ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>;
}

const Parts = ({ text }: { text: string }) => messageParts(text).map(partOf);

/** Shows a growing reply. It is not live, since the message that replaces it is announced. */
export function TypedReply({ text }: { text: string }) {
  return (
    <div
      className={`${bubble} ${belowLast}`}
      data-author="solace"
      data-slot="typed"
    >
      <span className={visuallyHidden}>{chatWords.writing}: </span>
      <MessageText blocks={messageBlocks(growingText(text))} />
    </div>
  );
}

/** A translator replaces text nodes, which React could not change. */
function partOf(part: MessagePart, key: number): ReactNode {
  if (part.kind === 'text') return <span key={key}>{part.text}</span>;
  if (part.kind !== 'link') {
    const parts = part.parts.map(partOf);
    return part.kind === 'bold' ? <strong key={key}>{parts}</strong> : <em key={key}>{parts}</em>;
  }
  return (
    <ExternalLink
      key={key}
      href={part.href}
      className={link()}
      label={part.text}
    />
  );
}

const messageText = css({
  display: 'grid',
  gap: '1',
  whiteSpace: 'pre-wrap',
  overflowWrap: 'anywhere',
  unicodeBidi: 'isolate',
  // Each paragraph has the direction of its words.
  '& :is(p, li)': { unicodeBidi: 'plaintext' },
  '& :is(ul, ol)': { paddingInlineStart: '[1.5em]', listStyle: 'revert' },
});

const bubble = css({
  display: 'grid',
  gridTemplateColumns: '[minmax(0, 1fr)]',
  gap: '1',
  width: '[fit-content]',
  maxWidth: '[min(36rem, 88%)]',
  paddingInline: '4',
  paddingBlock: '3',
  borderRadius: 'lg',
  // Stacked accents would cover other messages.
  overflow: 'clip',
  _forced: { borderWidth: 'thin' },
  '&[data-author=solace]': {
    borderEndStartRadius: 'sm',
    backgroundColor: 'raised',
    boxShadow: 'card',
  },
  '&[data-author=user]': {
    alignSelf: 'flex-end',
    borderEndEndRadius: 'sm',
    backgroundColor: 'primarySoft',
  },
  '&[data-state=failed], &[data-state=unsent]': { backgroundColor: 'dangerSoft' },
  '& strong': { fontWeight: 'bold' },
  breakInside: 'avoid',
});
/** The same distance as the message that replaces it. */
const belowLast = css({ marginTop: '3' });
const meta = css({
  display: 'flex',
  flexWrap: 'wrap',
  alignItems: 'center',
  columnGap: '2',
  textStyle: 'fine',
  color: 'muted',
});
const again = css({
  minHeight: '[1.5rem]',
  textDecoration: 'underline',
  fontWeight: 'semibold',
  color: 'danger',
});

/** Keeps the height of the player, which loads with the first recording. */
export const VoicePlace = () => (
  <div
    className={css({
      width: '[19rem]',
      maxWidth: 'full',
      minHeight: 'touch',
    })}
  />
);

function Day({ at }: { at: string }) {
  return (
    <li className={separator}>
      {/* The day may end before React takes over. */}
      <time
        dateTime={localDay(new Date(at))}
        suppressHydrationWarning
      >
        {dayText(new Date(at))}
      </time>
    </li>
  );
}

/** Required by laws on AI companions, again after three hours. */
function AiNotice() {
  return <li className={notice}>{chatWords.notice}</li>;
}

/** YYYY-MM-DD in the reader's zone. */
const localDay = (date: Date) =>
  new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);

function dayText(date: Date): string {
  const daysAgo = (Date.parse(localDay(new Date())) - Date.parse(localDay(date))) / 86_400_000;
  if (daysAgo === 0) return chatWords.today;
  if (daysAgo === 1) return chatWords.yesterday;
  return dateText(date.getDate(), date.getMonth(), date.getFullYear());
}

const separator = css({
  alignSelf: 'center',
  marginTop: '3',
  textStyle: 'fine',
  fontWeight: 'semibold',
  color: 'muted',
});
const notice = css({
  alignSelf: 'center',
  maxWidth: '[32rem]',
  paddingInline: '4',
  paddingBlock: '2',
  borderRadius: 'md',
  backgroundColor: 'sunken',
  textStyle: 'fine',
  textAlign: 'center',
  _forced: { borderWidth: 'thin' },
});
