import { css } from '#styled/css';
import { skeleton } from '#styled/recipes';
import { useSession } from '../../data/use-session.ts';
import { chatWords } from '../../words/chat.ts';
import { layoutWords } from '../../words/layout.ts';

/** The chat page before its user is known; part of the served HTML. */
export function ChatSkeleton() {
  const isInitializing = useSession((session) => session.isInitializing);
  return (
    <div className={frame} aria-busy="true">
      <h1 className={css({ textStyle: 'subheading' })}>{chatWords.title}</h1>
      <output className={css({ color: 'muted' })}>
        {isInitializing ? layoutWords.loadingApplication : chatWords.loading}
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

const frame = css({
  display: 'flex',
  flexDirection: 'column',
  gap: '2',
  width: 'full',
  maxWidth: '[52rem]',
  minHeight: '[calc(100dvh - 4.25rem)]',
  marginInline: 'auto',
  padding: 'gutter',
});
const theirs = css({ width: '[60%]', height: '[4.5rem]', borderRadius: 'lg' });
const ours = css({ width: '[45%]', height: '[3rem]', borderRadius: 'lg', marginInlineStart: 'auto' });
const field = css({ width: 'full', height: '[3.25rem]', borderRadius: 'lg', marginTop: '4' });
