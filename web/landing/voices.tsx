import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { Icon } from '../ui/icon.tsx';
import { landingWords } from '../words/landing.ts';
import { Section } from './section.tsx';
import { useSlides } from './use-slides.ts';

const count = landingWords.voices.length;

/** What people say: a list that scrolls sideways, with buttons for those who do not swipe. */
export function Voices() {
  const { track, position, move } = useSlides(count);
  return (
    <Section id="voices" title={landingWords.voicesTitle} tone="sunken" roleDescription={landingWords.carousel}>
      <div className={css({ display: 'grid', gap: '6' })}>
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a list that scrolls must be reachable by keyboard */}
        <ul ref={track} className={slides} tabIndex={0} aria-label={landingWords.voicesLabel}>
          {landingWords.voices.map(({ text, who, about }, index) => (
            <li key={who} aria-label={landingWords.storyOf(index + 1, count)}>
              <figure className={css({ display: 'grid', gap: '5', maxWidth: '[52rem]' })}>
                <span className={mark} aria-hidden="true">
                  “
                </span>
                <blockquote className={css({ textStyle: 'title', fontSize: '2xl' })}>{`“${text}”`}</blockquote>
                <figcaption className={css({ color: 'muted' })}>
                  <strong className={css({ color: 'text', fontWeight: 'semibold' })}>{who}</strong>, {about}
                </figcaption>
              </figure>
            </li>
          ))}
        </ul>
        <div className={css({ display: 'flex', alignItems: 'center', gap: '3' })}>
          <button
            type="button"
            className={button({ look: 'outline', size: 'icon' })}
            aria-label={landingWords.previous}
            aria-disabled={position === 0}
            onClick={() => move(-1)}
          >
            <Icon name="back" />
          </button>
          <button
            type="button"
            className={button({ look: 'outline', size: 'icon' })}
            aria-label={landingWords.next}
            aria-disabled={position === count - 1}
            onClick={() => move(1)}
          >
            <Icon name="arrow" />
          </button>
          <output className={css({ fontSize: 'sm', color: 'muted' })}>
            {landingWords.storyOf(position + 1, count)}
          </output>
        </div>
      </div>
    </Section>
  );
}

const mark = css({ fontFamily: 'heading', fontSize: '[7rem]', lineHeight: '[0.8]', height: '[3rem]', color: 'warm' });

const slides = css({
  display: 'grid',
  gridAutoFlow: 'column',
  gridAutoColumns: '[100%]',
  overflowX: 'auto',
  scrollSnapType: '[x mandatory]',
  '&::-webkit-scrollbar': { display: 'none' },
  borderRadius: 'sm',
  _calm: { scrollBehavior: 'smooth' },
  '& li': { scrollSnapAlign: 'start', paddingInlineEnd: '4' },
});
