import { Link } from '@tanstack/react-router';
import { chatLink } from '#contract/brand';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { ExternalLink } from '../ui/external-link.tsx';
import { Icon } from '../ui/icon.tsx';
import { words } from '../words.ts';

const { landing } = words;

/** The first thing that anybody sees. */
export function Hero() {
  return (
    <section className={hero}>
      <div className={css({ display: 'grid', gap: '6', justifyItems: 'start' })}>
        <h1 className={css({ textStyle: 'display' })}>
          <span className={css({ display: 'block', color: 'primary' })}>{landing.headline}</span> {landing.subline}
        </h1>
        <p className={css({ textStyle: 'lead', color: 'muted', maxWidth: '[36rem]' })}>{landing.lead}</p>
        <div className={css({ display: 'flex', flexWrap: 'wrap', gap: '3' })}>
          <ExternalLink href={chatLink()} className={button({ size: 'lg' })}>
            <Icon name="chat" />
            {landing.tryIt}
          </ExternalLink>
          <Link to="/plans" className={button({ size: 'lg', look: 'outline' })}>
            {landing.choosePlan}
          </Link>
        </div>
      </div>
    </section>
  );
}

const hero = css({
  maxWidth: 'page',
  width: 'full',
  marginInline: 'auto',
  paddingInline: 'gutter',
  paddingBlock: 'section',
});
