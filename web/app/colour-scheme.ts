import { storage } from '../data/storage.ts';

const key = 'theme';
const prefersDark = () => matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

const isDark = () =>
  (document.documentElement.dataset['theme'] ?? (prefersDark().matches ? 'dark' : 'light')) === 'dark';

/**
 * Light or dark: the system's preference until the visitor chooses. `index.html` applies the choice before the first
 * paint.
 */
export const colourScheme = {
  isDark,
  toggle: () => {
    const theme = isDark() ? 'light' : 'dark';
    document.documentElement.dataset['theme'] = theme;
    storage.write(key, theme);
    for (const listener of listeners) listener();
  },
  subscribe: (listener: () => void) => {
    const query = prefersDark();
    listeners.add(listener);
    query.addEventListener('change', listener);
    return () => {
      listeners.delete(listener);
      query.removeEventListener('change', listener);
    };
  },
};
