import { Link } from '@tanstack/react-router';
import { chatLink } from '#contract/brand';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { ExternalLink } from '../../ui/external-link.tsx';
import { Icon } from '../../ui/icon.tsx';
import { landingWords } from '../../words/landing.ts';
import { Conversation } from './conversation.tsx';
import { Landscape } from './landscape.tsx';

/** The first section of the landing page. */
export function Hero() {
  return (
    <section className={hero}>
      <div className={css({ display: 'grid', gap: '6', justifyItems: 'start', alignContent: 'center' })}>
        <h1 className={css({ textStyle: 'display' })}>
          <span className={css({ display: 'block', color: 'primary' })}>{landingWords.headline}</span>{' '}
          {landingWords.subline}
        </h1>
        <p className={css({ textStyle: 'lead', color: 'muted', maxWidth: '[34rem]' })}>{landingWords.lead}</p>
        <div className={actions}>
          <ExternalLink href={chatLink()} className={button({ size: 'lg' })}>
            <Icon name="chat" />
            {landingWords.tryIt}
          </ExternalLink>
          <Link to="/plans" className={button({ size: 'lg', look: 'outline' })}>
            {landingWords.choosePlan}
          </Link>
        </div>
        <ul className={promises}>
          {landingWords.reassurance.map((promise) => (
            <li key={promise}>
              <Icon name="check" />
              {promise}
            </li>
          ))}
        </ul>
      </div>
      <div className={picture}>
        <Landscape />
        <Conversation />
      </div>
    </section>
  );
}

const hero = css({
  display: 'grid',
  gridTemplateColumns: { base: '[minmax(0, 1fr)]', lg: '[minmax(0, 8fr) minmax(0, 6fr)]' },
  gap: { base: '10', lg: '12' },
  width: 'full',
  maxWidth: 'page',
  marginInline: 'auto',
  paddingInline: 'gutter',
  paddingBlock: { base: '10', lg: '16' },
});

const actions = css({
  display: 'flex',
  flexWrap: 'wrap',
  gap: '3',
  width: { base: 'full', sm: 'auto' },
  '& a': { width: { base: 'full', sm: 'auto' } },
});

const promises = css({
  display: 'flex',
  flexWrap: 'wrap',
  columnGap: '6',
  rowGap: '2',
  fontSize: 'sm',
  color: 'muted',
  '& li': { display: 'flex', alignItems: 'center', gap: '2' },
  '& svg': { color: 'primary' },
});

const picture = css({
  position: 'relative',
  display: 'grid',
  alignItems: 'end',
  minHeight: { base: '[30rem]', lg: '[36rem]' },
  borderRadius: '[2rem]',
  overflow: 'hidden',
  boxShadow: 'float',
  _forced: { borderWidth: 'thin' },
});
