import { Steps, CallToAction, Reasons } from './sections.tsx';
import { PlanTeasers } from './plan-teasers.tsx';
import { Testimonials } from './testimonials.tsx';
import { Link } from '@tanstack/react-router';
import { brand, chatLink } from '#contract/brand';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { ExternalLink } from '../../ui/external-link.tsx';
import { Icon, TextWithIcon } from '../../ui/icons.tsx';
import { landingWords } from '#words/landing';

export function Landing() {
  return (
    <>
      <Hero />
      <Reasons />
      <Steps />
      <Testimonials />
      <PlanTeasers />
      <CallToAction />
    </>
  );
}

function Hero() {
  return (
    <section className={hero}>
      <div className={text}>
        <h1 className={css({ textStyle: 'display', maxWidth: 'full' })}>
          <span className={css({ display: 'block', color: 'primary' })}>{brand.name}</span>{' '}
          {landingWords.subline}
        </h1>
        <p
          className={css({
            textStyle: 'lead',
            color: 'muted',
            maxWidth: '[34rem]',
          })}
        >
          {landingWords.lead}
        </p>
        <div className={actions}>
          <ExternalLink
            href={chatLink()}
            className={button({ size: 'lg' })}
            label={landingWords.tryIt}
          >
            <TextWithIcon name="chat">{landingWords.tryIt}</TextWithIcon>
          </ExternalLink>
          <Link
            to="/plans"
            className={button({ size: 'lg', look: 'outline' })}
          >
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

/** Keeps its width, whatever the longest word. */
const text = css({
  display: 'grid',
  gridTemplateColumns: '[minmax(0, 1fr)]',
  gap: '6',
  justifyItems: 'start',
  alignContent: 'center',
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

function Conversation() {
  return (
    <figure
      className={css({
        position: 'relative',
        padding: { base: '4', md: '6' },
      })}
      aria-label={landingWords.sceneLabel}
    >
      <ol className={css({ display: 'grid', gap: '3' })}>
        {landingWords.scene.map((text, index) => (
          <li
            key={text}
            className={bubble}
            data-from={index % 2 === 0 ? 'user' : 'companion'}
          >
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

function Landscape() {
  return (
    <svg
      className={landscape}
      viewBox="0 0 600 720"
      preserveAspectRatio="xMidYMid slice"
      aria-hidden="true"
    >
      <rect
        className={css({ fill: 'scene.sky' })}
        width="600"
        height="720"
      />
      <g className={sun}>
        <circle
          className={css({ fill: 'scene.glow', opacity: '0.35' })}
          cx="385"
          cy="225"
          r="215"
        />
        <circle
          className={css({ fill: 'scene.glow', opacity: '0.55' })}
          cx="385"
          cy="225"
          r="150"
        />
      </g>
      <circle
        className={css({ fill: 'scene.sun' })}
        cx="385"
        cy="225"
        r="86"
      />
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
      <path
        className={css({ fill: 'scene.front' })}
        d="M0 604c94-52 182-50 268-14 104 44 208 52 332-16v146H0Z"
      />
    </svg>
  );
}

const landscape = css({
  position: 'absolute',
  inset: '0',
  width: 'full',
  height: 'full',
});

const sun = css({
  transformOrigin: '[385px 225px]',
  _calm: { animation: '[breathe 9s cubic-bezier(0.45, 0, 0.55, 1) infinite]' },
});
