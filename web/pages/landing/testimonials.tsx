import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { Icon } from '../../ui/icons.tsx';
import { isRightToLeft } from '#words/language';
import { landingWords } from '#words/landing';
import { Sentence } from '../../ui/text.tsx';
import { Section } from './sections.tsx';
import { useEffect, useRef, useState } from 'react';

const count = landingWords.testimonials.length;

/** Buttons for visitors who cannot swipe. */
export function Testimonials() {
  const { track, position, move } = useSlides(count);
  return (
    <Section
      id="testimonials"
      title={landingWords.testimonialsTitle}
      tone="sunken"
      roleDescription={landingWords.carousel}
    >
      <div className={panel}>
        <ul
          ref={track}
          className={slides}
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a list that scrolls must be reachable by keyboard
          tabIndex={0}
          aria-label={landingWords.testimonialsLabel}
        >
          {landingWords.testimonials.map((told, index) => (
            <li
              key={told.who}
              aria-label={landingWords.storyOf({ position: index + 1, count })}
            >
              <Story {...told} />
            </li>
          ))}
        </ul>
        <div
          className={css({
            display: 'flex',
            flexWrap: 'wrap',
            alignItems: 'center',
            gap: '3',
            _unscripted: { display: 'none' },
          })}
        >
          <Step
            label={landingWords.previous}
            icon="back"
            isEnd={position === 0}
            move={() => move(-1)}
          />
          <Step
            label={landingWords.next}
            icon="arrow"
            isEnd={position === count - 1}
            move={() => move(1)}
          />
          <output className={css({ fontSize: 'sm' })}>
            {landingWords.storyOf({ position: position + 1, count })}
          </output>
        </div>
      </div>
    </Section>
  );
}

type Told = (typeof landingWords.testimonials)[number];

function Story({ text, who, about }: Told) {
  return (
    <figure
      className={css({
        display: 'grid',
        gap: '5',
        maxWidth: '[50rem]',
      })}
    >
      <blockquote className={css({ textStyle: 'heading' })}>{landingWords.quote(text)}</blockquote>
      <figcaption>
        <Sentence parts={landingWords.teller({ who, about, strong })} />
      </figcaption>
    </figure>
  );
}

const strong = (name: string) => (
  <strong className={css({ fontWeight: 'semibold' })}>{name}</strong>
);

type StepProps = { label: string; icon: 'back' | 'arrow'; isEnd: boolean; move: () => void };

function Step({ label, icon, isEnd, move }: StepProps) {
  return (
    <button
      type="button"
      className={step}
      aria-label={label}
      aria-disabled={isEnd}
      onClick={move}
    >
      <Icon name={icon} />
    </button>
  );
}

const step = `${button({ look: 'outline', size: 'icon' })} ${css({
  color: '[inherit]',
  borderColor: 'current',
  _rtl: { '& svg': { transform: 'scaleX(-1)' } },
})}`;

const panel = css({
  display: 'grid',
  gridTemplateColumns: '[minmax(0, 1fr)]',
  gap: '8',
  padding: { base: '6', md: '12' },
  borderRadius: '[2rem]',
  backgroundColor: 'warmSoft',
  color: 'onWarmSoft',
  // The illustration's sun, where there is room.
  backgroundImage: {
    md: '[radial-gradient(circle at 92% 112%, {colors.scene.sun} 0 6.95rem, {colors.scene.glow} 7rem 10.95rem, transparent 11rem)]',
  },
  _rtl: {
    backgroundImage: {
      md: '[radial-gradient(circle at 8% 112%, {colors.scene.sun} 0 6.95rem, {colors.scene.glow} 7rem 10.95rem, transparent 11rem)]',
    },
  },
  _forced: { borderWidth: 'thin' },
});

const slides = css({
  position: 'relative',
  display: 'grid',
  gridAutoFlow: 'column',
  gridAutoColumns: '[100%]',
  alignItems: 'center',
  overflowX: 'auto',
  scrollSnapType: '[x mandatory]',
  borderRadius: 'sm',
  scrollbarWidth: '[none]',
  _calm: { scrollBehavior: 'smooth' },
  _unscripted: { gridAutoFlow: 'row', gap: '8' },
  '& li': { scrollSnapAlign: 'start', paddingInlineEnd: '4' },
});

/** For a list that scrolls by its own width. */
function useSlides(count: number) {
  const track = useRef<HTMLUListElement>(null);
  const [position, setPosition] = useState(0);

  useEffect(() => {
    const list = track.current;
    if (!list) return undefined;
    const look = () =>
      setPosition(Math.round(Math.abs(list.scrollLeft) / Math.max(1, list.clientWidth)));
    // It may have been swiped before the app started.
    look();
    list.addEventListener('scroll', look, { passive: true });
    return () => list.removeEventListener('scroll', look);
  }, []);

  const move = (by: number) => {
    const target = Math.min(count - 1, Math.max(0, position + by));
    // From right to left places are negative.
    track.current?.scrollTo({
      left: (isRightToLeft ? -target : target) * track.current.clientWidth,
    });
  };
  return { track, position, move };
}
