import { published } from '#contract/languages';
import { seenBy, servedAs } from './protocol.ts';

const hidden = { display: 'none !important' };

const returning = seenBy('returning');
const leavesServed = `:root:is(${returning}, ${seenBy('special')})`;

const shownOffers = published
  .map((tag) => `[data-offer="${tag}"] .offer[lang="${tag}"]`)
  .join(', ');

/** Who sees what was served; how the app goes on is in `start-modes.ts`. */
export const startStyles = {
  [`${leavesServed} ${servedAs('guest-page')} > *`]: hidden,
  [`:root:not(${returning}) ${servedAs('shell')} > *`]: hidden,
  [`:root${seenBy('unscripted')} [data-needs-scripts]`]: hidden,
  // Laid out after the first frame, which is earlier for it.
  '[data-prerendered] section[data-tone]': {
    contentVisibility: 'auto',
    containIntrinsicHeight: '50rem',
    animation: 'postpone 1ms',
  },
  [shownOffers]: { display: 'flex' },
};

export const startConditions = { returning: `:root${returning} &` };
