import { css } from '#styled/css';
import { formatDate } from '../../rules/format-date.ts';
import { chatWords } from '../../words/chat.ts';

/** A day between messages. */
export function Day({ at }: { at: string }) {
  return (
    <li className={separator}>
      {/* The day may end before React takes over the served text. */}
      <time dateTime={at.slice(0, 10)} suppressHydrationWarning>
        {dayText(new Date(at))}
      </time>
    </li>
  );
}

/** States that Solace is an AI; laws on AI companions require this again after three hours. */
export function AiNotice() {
  return <li className={notice}>{chatWords.notice}</li>;
}

function dayText(date: Date): string {
  const yesterday = new Date();
  yesterday.setDate(yesterday.getDate() - 1);
  if (date.toDateString() === new Date().toDateString()) return chatWords.today;
  return date.toDateString() === yesterday.toDateString() ? chatWords.yesterday : formatDate(date.toISOString());
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
