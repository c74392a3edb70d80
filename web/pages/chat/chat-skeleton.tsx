import { css } from '#styled/css';
import { skeleton } from '#styled/recipes';
import { useSession } from '../../data/use-session.ts';
import { chatWords } from '../../words/chat.ts';
import { layoutWords } from '../../words/layout.ts';
import { chatFrame } from './chat-frame.tsx';
import { ChatHeader } from './chat-header.tsx';

/** The chat page before its user is known; part of the served HTML, which `fill-chat.tsx` replaces by the conversation. */
export function ChatSkeleton() {
  const isInitializing = useSession((session) => session.isInitializing);
  return (
    <section className={chatFrame} aria-labelledby="chat-title" aria-busy="true">
      <ChatHeader token="" openHelp={() => location.assign('/help-now')} hasConversation={false} />
      <MessagesSkeleton label={isInitializing ? layoutWords.loadingApplication : chatWords.loading} />
    </section>
  );
}

/** Takes the place of messages and field. */
export function MessagesSkeleton({ label }: { label: string }) {
  return (
    <div className={body}>
      <output className={css({ color: 'muted' })} data-slot="start">
        {label}
      </output>
      <div className={css({ display: 'grid', gap: '4', marginTop: 'auto' })} aria-hidden="true">
        <span className={`${skeleton()} ${theirs}`} />
        <span className={`${skeleton()} ${ours}`} />
        <span className={`${skeleton()} ${theirs}`} />
        <span className={`${skeleton()} ${field}`} />
      </div>
    </div>
  );
}

const body = css({
  flex: '1',
  display: 'flex',
  flexDirection: 'column',
  paddingInline: 'gutter',
  paddingBlock: '4',
});
const theirs = css({ width: '[60%]', height: '[4.5rem]', borderRadius: 'lg' });
const ours = css({ width: '[45%]', height: '[3rem]', borderRadius: 'lg', marginInlineStart: 'auto' });
const field = css({ width: 'full', height: '[3.25rem]', borderRadius: 'lg', marginTop: '4' });
