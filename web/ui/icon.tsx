import { css } from '#styled/css';
import { icons, type IconName } from './icons.ts';

/** A decorative icon in the text's colour, hidden from screen readers: the text beside it must say the same. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      className={css({ flexShrink: '0', width: '[1.25em]', height: '[1.25em]' })}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={icons[name]} />
    </svg>
  );
}
