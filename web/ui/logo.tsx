import { css } from '#styled/css';

/** The logo: two arms around a small sun, in the shape of a speech bubble. */
export function Logo() {
  return (
    <svg
      className={css({ width: '[2.125rem]', height: '[2.125rem]', flexShrink: '0' })}
      viewBox="0 0 40 40"
      aria-hidden="true"
    >
      <path
        className={css({ fill: 'primary' })}
        d="M20 3a17 17 0 0 0-14.7 25.500L3.5 36.500l8.2-1.700A17 17 0 1 0 20 3Z"
      />
      <circle className={css({ fill: 'warm' })} cx="20" cy="17.5" r="5.2" />
      <path
        className={css({ stroke: 'onPrimary' })}
        d="M9.5 19.500c1.2 6.2 5.4 9.5 10.5 9.500s9.3-3.3 10.5-9.5"
        fill="none"
        strokeWidth="2.6"
        strokeLinecap="round"
      />
    </svg>
  );
}
