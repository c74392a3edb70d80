import { useSyncExternalStore } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { colourScheme } from '../colour-scheme.ts';
import { Icon } from '../ui/icon.tsx';
import { frameWords } from '../words/frame.ts';

/** Switches between light and dark colours and remembers the choice. */
export function ThemeToggle() {
  const isDark = useSyncExternalStore(colourScheme.subscribe, colourScheme.isDark, () => false);
  const label = isDark ? frameWords.toLight : frameWords.toDark;
  return (
    <button
      type="button"
      className={`${button({ look: 'quiet', size: 'icon' })} ${css({ fontSize: 'md' })}`}
      onClick={colourScheme.toggle}
      aria-label={label}
      title={label}
    >
      <Icon name={isDark ? 'sun' : 'moon'} />
    </button>
  );
}
