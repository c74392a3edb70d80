import { css } from '#styled/css';
import { landingWords } from '../../words/landing.ts';

/** An example conversation. */
export function Conversation() {
  return (
    <figure
      className={css({ position: 'relative', padding: { base: '4', md: '6' } })}
      aria-label={landingWords.sceneLabel}
    >
      <ol className={css({ display: 'grid', gap: '3' })}>
        {landingWords.scene.map(({ from, text }) => (
          <li key={text} className={bubble} data-from={from}>
            {text}
          </li>
        ))}
      </ol>
    </figure>
  );
}

const bubble = css({
  width: '[fit-content]',
  maxWidth: '[85%]',
  paddingInline: '4',
  paddingBlock: '3',
  borderRadius: '[1.25rem]',
  fontSize: 'sm',
  lineHeight: 'snug',
  boxShadow: 'card',
  _forced: { borderWidth: 'thin' },
  '&[data-from=user]': {
    justifySelf: 'end',
    backgroundColor: 'scene.spoken',
    color: 'scene.onSpoken',
    borderEndEndRadius: '[0.25rem]',
  },
  '&[data-from=companion]': {
    backgroundColor: 'scene.answered',
    color: 'scene.onAnswered',
    borderEndStartRadius: '[0.25rem]',
  },
  _calm: {
    animation: '[rise 700ms cubic-bezier(0.2, 0.8, 0.2, 1) backwards]',
    '&:nth-child(2)': { animationDelay: '[0.5s]' },
    '&:nth-child(3)': { animationDelay: '[1.1s]' },
    '&:nth-child(4)': { animationDelay: '[1.6s]' },
  },
});
