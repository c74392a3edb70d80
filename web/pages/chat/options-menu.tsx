import { useRef } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { Icon } from '../../ui/icon.tsx';
import { chatWords } from '../../words/chat.ts';
import { useDismissal } from './use-dismissal.ts';

type Props<Id> = { options: readonly { id: Id; label: string }[]; choose: (id: Id) => void };

/** What else can be done with the conversation. Ark UI's menu would be 18 KiB more. */
export function OptionsMenu<Id extends string>({ options, choose }: Props<Id>) {
  const details = useRef<HTMLDetailsElement>(null);
  useDismissal(details);
  return (
    <details ref={details} className={menu}>
      <summary
        className={button({ look: 'quiet', size: 'icon' })}
        aria-label={chatWords.options}
        title={chatWords.options}
      >
        <Icon name="more" />
      </summary>
      <div className={list}>
        {options.map(({ id, label }) => (
          <button
            key={id}
            type="button"
            className={button({ look: 'quiet' })}
            onClick={() => {
              details.current?.removeAttribute('open');
              choose(id);
            }}
          >
            {label}
          </button>
        ))}
      </div>
    </details>
  );
}

const menu = css({
  gridArea: 'menu',
  justifySelf: 'end',
  '& summary': { listStyle: 'none' },
  '& summary::-webkit-details-marker': { display: 'none' },
});
const list = css({
  position: 'absolute',
  // Below the whole bar, so that the way to help stays in view.
  top: '[100%]',
  insetInlineEnd: 'gutter',
  zIndex: 'header',
  display: 'grid',
  width: '[max-content]',
  padding: '2',
  borderRadius: 'md',
  borderWidth: 'thin',
  borderColor: 'line',
  backgroundColor: 'raised',
  boxShadow: 'float',
});
