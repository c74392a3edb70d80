import { published } from '#contract/languages';
import { markSelector, markName, offerClass, servedAs } from './protocol.ts';

const hidden = { display: 'none !important' };

const returning = markSelector('visitor', 'returning');
const hidesGuestPage = `:root:is(${returning}, ${markSelector('visitor', 'special')})`;

const shownOffers = published
  .map((tag) => `${markSelector('offer', tag)} .${offerClass}[lang=${tag}]`)
  .join(', ');

/** Who sees what was served; how the app goes on is in `start-modes.ts`. */
const startVisibility = {
  [`${hidesGuestPage} ${servedAs('guest-page')} > *`]: hidden,
  [`:root:not(${returning}) ${servedAs('shell')} > *`]: hidden,
  [`:root${markSelector('visitor', 'unscripted')} ${markSelector('needs', 'scripts')}`]: hidden,
  // Sections are laid out after the first paint, which is earlier without them. A scrolled page needs their heights.
  [`${markSelector('entry', 'navigate')} [${markName('served')}] section[data-tone]`]: {
    contentVisibility: 'auto',
    containIntrinsicHeight: '50rem',
    animation: 'postpone 1ms',
  },
  [shownOffers]: { display: 'flex' },
};

/** What React does not render. */
const offer = {
  [`.${offerClass}`]: {
    display: 'none',
    alignItems: 'center',
    gap: '2',
    paddingInline: 'gutter',
    backgroundColor: 'primarySoft',
    fontSize: 'sm',
    _large: { flexWrap: 'wrap' },
    _print: { display: 'none !important' },
  },
  [`.${offerClass} a`]: { flexShrink: '0', textDecoration: 'underline' },
  [`.${offerClass} :is(a, button)`]: { minWidth: 'touch', minHeight: 'touch', paddingBlock: '2' },
  [`.${offerClass} button`]: { marginInlineStart: 'auto', fontSize: 'lg' },
};

const themes = {
  [markSelector('theme', 'light')]: { colorScheme: 'light' },
  [markSelector('theme', 'dark')]: { colorScheme: 'dark' },
};

export const startStyles = { ...themes, ...offer, ...startVisibility };

export const startConditions = { returning: `:root${returning} &` };
