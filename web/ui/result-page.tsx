import { useEffect, type ReactNode } from 'react';
import { css } from '#styled/css';
import { card, page, spinner } from '#styled/recipes';
import { Icon, type IconName } from './icons.tsx';

type Mood = 'busy' | 'good' | 'pause' | 'bad' | 'lost';
type Props = {
  mood: Mood;
  title: string;
  text?: ReactNode;
  /** What can be done. */
  children?: ReactNode;
  /** Where else there is help. */
  below?: ReactNode;
};

const icons: Record<Exclude<Mood, 'busy'>, IconName> = {
  good: 'check',
  pause: 'clock',
  bad: 'warning',
  lost: 'path',
};

/** The event after which the document takes the page's title. */
export const titleChange = 'titlechange';

const announceTitle = () => void dispatchEvent(new Event(titleChange));

export function ResultPage({ mood, title, text, children, below }: Props) {
  return (
    <div
      className={page({ width: 'form' })}
      aria-live="polite"
      data-result
    >
      <div
        className={`${card({ look: 'raised' })} ${css({ alignItems: 'center', textAlign: 'center', paddingBlock: '10' })}`}
      >
        {mood === 'busy' ? (
          <span
            className={spinner()}
            aria-hidden="true"
          />
        ) : (
          <span
            className={sign}
            data-mood={mood}
          >
            <Icon name={icons[mood]} />
          </span>
        )}
        <Title
          key={title}
          text={title}
        />
        {text && <p className={paragraph}>{text}</p>}
        {children}
        {below && <p className={css({ textStyle: 'small', color: 'muted' })}>{below}</p>}
      </div>
    </div>
  );
}

function Title({ text }: { text: string }) {
  useEffect(() => {
    announceTitle();
    return announceTitle;
  }, []);
  return <h1 className={css({ textStyle: 'heading' })}>{text}</h1>;
}

const paragraph = css({ color: 'muted', textWrap: 'balance', overflowWrap: 'anywhere' });
const sign = css({
  display: 'grid',
  placeItems: 'center',
  width: '[4.5rem]',
  height: '[4.5rem]',
  borderRadius: 'full',
  fontSize: 'xl',
  backgroundColor: 'primarySoft',
  color: 'primary',
  '&[data-mood=bad]': { backgroundColor: 'dangerSoft', color: 'danger' },
  '&[data-mood=pause], &[data-mood=lost]': { backgroundColor: 'warmSoft', color: 'onWarmSoft' },
});
