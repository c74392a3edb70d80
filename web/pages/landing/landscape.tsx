import { css } from '#styled/css';

/** The illustration: hills under a low sun that slowly pulsates. */
export function Landscape() {
  return (
    <svg className={picture} viewBox="0 0 600 720" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
      <rect className={css({ fill: 'scene.sky' })} width="600" height="720" />
      <g className={sun}>
        <circle className={css({ fill: 'scene.glow', opacity: '0.35' })} cx="385" cy="225" r="215" />
        <circle className={css({ fill: 'scene.glow', opacity: '0.55' })} cx="385" cy="225" r="150" />
      </g>
      <circle className={css({ fill: 'scene.sun' })} cx="385" cy="225" r="86" />
      <path
        className={css({ fill: 'scene.far' })}
        d="M0 330c70-46 140-60 215-22 62 32 98 34 160-6 84-54 152-44 225-8v426H0Z"
      />
      <path
        className={css({ fill: 'scene.middle' })}
        d="M0 420c96-14 150-74 250-62 92 11 120 72 208 66 58-4 96-34 142-56v352H0Z"
      />
      <path
        className={css({ fill: 'scene.near' })}
        d="M0 492c62 22 132 34 214 4 92-34 160-46 244 4 52 31 96 36 142 26v194H0Z"
      />
      <path className={css({ fill: 'scene.front' })} d="M0 604c94-52 182-50 268-14 104 44 208 52 332-16v146H0Z" />
    </svg>
  );
}

const picture = css({ position: 'absolute', inset: '0', width: 'full', height: 'full' });

const sun = css({
  transformOrigin: '[385px 225px]',
  _calm: { animation: '[breathe 9s cubic-bezier(0.45, 0, 0.55, 1) infinite]' },
});
