import type { ReactNode } from 'react';
import { css } from '#styled/css';
import { card, page, spinner } from '#styled/recipes';
import { Icon, type IconName } from './icons.tsx';

type Mood = 'busy' | 'good' | 'pause' | 'bad' | 'lost';
type Props = { mood: Mood; title: string; text?: ReactNode; children?: ReactNode };

const icons: Record<Exclude<Mood, 'busy'>, IconName> = {
  good: 'check',
  pause: 'clock',
  bad: 'warning',
  lost: 'path',
};

export function ResultPage({ mood, title, text, children }: Props) {
  return (
    <div
      className={page({ width: 'form' })}
      aria-live="polite"
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
        <h1 className={css({ textStyle: 'heading' })}>{title}</h1>
        {text && <p className={css({ color: 'muted', textWrap: 'balance' })}>{text}</p>}
        {children}
      </div>
    </div>
  );
}

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
