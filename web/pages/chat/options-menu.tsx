import { useRef, useEffect, type RefObject } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { chatWords } from '#words/chat';
import { Icon } from '../../ui/icons.tsx';

type MenuProps<Id> = { options: readonly { id: Id; label: string }[]; choose: (id: Id) => void };

/** Ark UI's menu would be 18 KiB more. */
export function OptionsMenu<Id extends string>({ options, choose }: MenuProps<Id>) {
  const details = useRef<HTMLDetailsElement>(null);
  useDismissal(details);
  return (
    <details
      ref={details}
      className={menu}
    >
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
  // Below the bar, so that help stays in view.
  top: '[100%]',
  insetInlineEnd: 'gutter',
  zIndex: 'header',
  display: 'grid',
  padding: '2',
  borderRadius: 'md',
  borderWidth: 'thin',
  borderColor: 'line',
  backgroundColor: 'raised',
  boxShadow: 'float',
});

type Watcher = EventTarget & { destroy: () => void };

declare global {
  interface Window {
    /** Chromium from 126, Firefox from 149. */
    readonly CloseWatcher?: new () => Watcher;
  }
}

function useDismissal(ref: RefObject<HTMLDetailsElement | null>): void {
  useEffect(() => {
    const details = ref.current;
    if (!details) return undefined;

    const close = () => details.removeAttribute('open');
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && !details.contains(target)) close();
    };
    const closeOnEscape = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape' || !details.open) return;
      close();
      details.querySelector('summary')?.focus();
    };

    const watch = closeWatcher(details, close);
    const listening = new AbortController();
    details.addEventListener('toggle', watch, listening);
    document.addEventListener('pointerdown', closeOutside, listening);
    document.addEventListener('focusin', closeOutside, listening);
    document.addEventListener('keydown', closeOnEscape, listening);

    return () => listening.abort();
  }, [ref]);
}

/** A close request, as by Back on Android, would leave the page. */
function closeWatcher(details: HTMLDetailsElement, close: () => void): () => void {
  let watcher: Watcher | undefined;
  return () => {
    watcher?.destroy();
    if (!details.open || !window.CloseWatcher) return;
    watcher = new window.CloseWatcher();
    watcher.addEventListener('close', close);
  };
}
