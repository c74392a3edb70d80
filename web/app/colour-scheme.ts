import { storage } from '../data/store.ts';
import { documentMarks, themeKey } from '../start/protocol.ts';
import { showTheme } from './theme-choice.ts';

const prefersDark = () => matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

const isDark = () =>
  (documentMarks().theme ?? (prefersDark().matches ? 'dark' : 'light')) === 'dark';

/** `start/head-script.ts` applies a choice before the first paint. */
export const colourScheme = {
  isDark,
  toggle: () => {
    const theme = isDark() ? 'light' : 'dark';
    showTheme(theme);
    storage.write(themeKey, theme);
    for (const listener of listeners) listener();
  },
  subscribe: (listener: () => void) => {
    const query = prefersDark();

    const follow = (event: StorageEvent) => {
      const chosen = event.key === themeKey && event.newValue;
      if (chosen !== 'light' && chosen !== 'dark') return;
      showTheme(chosen);
      listener();
    };

    listeners.add(listener);
    query.addEventListener('change', listener);
    addEventListener('storage', follow);

    return () => {
      listeners.delete(listener);
      query.removeEventListener('change', listener);
      removeEventListener('storage', follow);
    };
  },
};
