import { useHydrated } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { colourScheme } from './colour-scheme.ts';
import { Icon } from '../ui/icon.tsx';
import { layoutWords } from '../words/layout.ts';

/** Switches between light and dark colours and stores the choice. */
export function ThemeToggle() {
  const isKnown = useHydrated();
  const isDark = useSyncExternalStore(colourScheme.subscribe, colourScheme.isDark, () => false);
  const label = isDark ? layoutWords.toLight : layoutWords.toDark;
  return (
    <button
      type="button"
      className={`${button({ look: 'quiet', size: 'icon' })} ${toggle}`}
      onClick={colourScheme.toggle}
      aria-label={label}
      title={label}
    >
      {isKnown ? <Icon name={isDark ? 'sun' : 'moon'} /> : <Both />}
    </button>
  );
}

/** Sun and moon in one place; the colour scheme decides which one is visible. */
function Both() {
  return (
    <>
      <span className={css({ gridArea: '[1 / 1]', color: '[light-dark(transparent, currentColor)]' })}>
        <Icon name="sun" />
      </span>
      <span className={css({ gridArea: '[1 / 1]', color: '[light-dark(currentColor, transparent)]' })}>
        <Icon name="moon" />
      </span>
    </>
  );
}

const toggle = css({
  display: 'grid',
  placeItems: 'center',
  fontSize: 'md',
  _unscripted: { display: 'none' },
});
