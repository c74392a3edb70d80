import { css } from '#styled/css';
import { card } from '#styled/recipes';
import { Icon } from '../../ui/icon.tsx';
import { landingWords } from '../../words/landing.ts';
import { Section } from './section.tsx';

/** Four reasons. */
export function Reasons() {
  return (
    <Section id="why" title={landingWords.reasonsTitle} lead={landingWords.reasonsLead} tone="sunken">
      <ul className={grid}>
        {landingWords.reasons.map(({ icon, title, text }) => (
          <li key={title} className={card({ look: 'raised' })}>
            <span className={sign}>
              <Icon name={icon} />
            </span>
            <h3 className={css({ textStyle: 'subheading' })}>{title}</h3>
            <p className={css({ color: 'muted' })}>{text}</p>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const grid = css({
  display: 'grid',
  gridTemplateColumns: { base: '[minmax(0, 1fr)]', md: '[repeat(2, minmax(0, 1fr))]' },
  gap: '5',
});

const sign = css({
  display: 'grid',
  placeItems: 'center',
  width: '[3.25rem]',
  height: '[3.25rem]',
  borderRadius: 'md',
  fontSize: 'xl',
  backgroundColor: 'warmSoft',
  color: 'onWarmSoft',
});
