import { css } from '#styled/css';

/** Hidden from screen readers: the text beside it must say the same. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      className={css({
        flexShrink: '0',
        width: '[1.25em]',
        height: '[1.25em]',
      })}
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

/** Keeps the icon in the first line of a text of two lines. */
export function TextWithIcon({ name, children }: { name: IconName; children: string }) {
  return (
    <span className={beside}>
      <Icon name={name} />
      {children}
    </span>
  );
}

const beside = css({
  textWrap: 'balance',
  '& svg': { display: 'inline', marginInlineEnd: '2', verticalAlign: '[-0.25em]' },
});

/** Paths on a 24 × 24 grid. */
export const icons = {
  arrow: 'M5 12h14M13 6l6 6-6 6',
  back: 'M19 12H5M11 6l-6 6 6 6',
  chat: 'M20 12a8 8 0 0 1-11.6 7.1L4 20l1-4.2A8 8 0 1 1 20 12Z',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  chevron: 'm6 9 6 6 6-6',
  clock: 'M12 7v5l3 2M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0Z',
  close: 'M6 6l12 12M18 6 6 18',
  dash: 'M8 12h8',
  info: 'M12 11v5M12 8h.01M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0Z',
  lock: 'M7 10.5V8a5 5 0 0 1 10 0v2.5M6 10.5h12v9H6zM12 14v2.5',
  logout: 'M14 5H6v14h8M11 12h9M17 9l3 3-3 3',
  mail: 'M4 6h16v12H4zM4 7l8 6 8-6',
  moon: 'M20 14.5A8 8 0 0 1 9.5 4a8 8 0 1 0 10.5 10.5Z',
  path: 'M5 19c0-4 4-4 7-7s0-7 7-7M5 19h.01M19 5h.01',
  more: 'M5.5 11.25a.75.75 0 1 0 0 1.5.75.75 0 0 0 0-1.5M12 11.25a.75.75 0 1 0 0 1.5.75.75 0 0 0 0-1.5M18.5 11.25a.75.75 0 1 0 0 1.5.75.75 0 0 0 0-1.5',
  pause: 'M9 6v12M15 6v12',
  phone:
    'M6 4h3l1.5 4-2 1.5a11 11 0 0 0 6 6l1.5-2 4 1.5v3a2 2 0 0 1-2 2A14 14 0 0 1 4 6a2 2 0 0 1 2-2Z',
  play: 'M8.5 5.5v13l10-6.5z',
  refresh: 'M20 11a8 8 0 0 0-14.5-4L4 9M4 4v5h5M4 13a8 8 0 0 0 14.5 4l1.5-2M20 20v-5h-5',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.4M18.4 5.6 17 7M7 17l-1.4 1.4',
  trash: 'M5 7h14M10 7V5h4v2M7 7l1 12h8l1-12M10.5 11v4.5M13.5 11v4.5',
  voice: 'M12 15a3 3 0 0 0 3-3V7a3 3 0 0 0-6 0v5a3 3 0 0 0 3 3ZM6 11.5a6 6 0 0 0 12 0M12 17.5V21',
  warning:
    'M12 9v4M12 16.5h.01M10.5 4.5 3 18a1.5 1.5 0 0 0 1.5 2h15a1.5 1.5 0 0 0 1.5-2L13.5 4.5a1.7 1.7 0 0 0-3 0Z',
} as const;

export type IconName = keyof typeof icons;

export function Logo() {
  return (
    <svg
      className={css({
        width: '[2.125rem]',
        height: '[2.125rem]',
        flexShrink: '0',
      })}
      viewBox="0 0 40 40"
      aria-hidden="true"
    >
      <path
        className={css({ fill: 'primary' })}
        d="M20 3a17 17 0 0 0-14.7 25.5L3.5 36.5l8.2-1.7A17 17 0 1 0 20 3Z"
      />
      <circle
        className={css({ fill: 'warm' })}
        cx="20"
        cy="17.5"
        r="5.2"
      />
      <path
        className={css({ stroke: 'onPrimary' })}
        d="M9.5 19.5c1.2 6.2 5.4 9.5 10.5 9.5s9.3-3.3 10.5-9.5"
        fill="none"
        strokeWidth="2.6"
        strokeLinecap="round"
      />
    </svg>
  );
}
