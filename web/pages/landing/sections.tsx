import type { ReactNode } from 'react';
import { css } from '#styled/css';
import { card, button } from '#styled/recipes';
import { Icon } from '../../ui/icons.tsx';
import { landingWords } from '#words/landing';
import { chatLink } from '#contract/brand';
import { ExternalLink } from '../../ui/external-link.tsx';

type Props = {
  id: string;
  title: string;
  lead?: string;
  tone?: 'plain' | 'sunken';
  roleDescription?: string;
  children: ReactNode;
};

export function Section({ id, title, lead, tone = 'plain', roleDescription, children }: Props) {
  return (
    <section
      className={band}
      data-tone={tone}
      aria-labelledby={id}
      aria-roledescription={roleDescription}
    >
      <div className={inner}>
        <header
          className={css({
            display: 'grid',
            gap: '3',
            maxWidth: '[40rem]',
          })}
        >
          <h2
            id={id}
            className={css({ textStyle: 'title' })}
          >
            {title}
          </h2>
          {lead && <p className={css({ textStyle: 'lead', color: 'muted' })}>{lead}</p>}
        </header>
        {children}
      </div>
    </section>
  );
}

const band = css({
  paddingBlock: 'section',
  '&[data-tone=sunken]': {
    backgroundColor: 'surface',
    borderBlockWidth: 'thin',
    borderColor: 'line',
  },
});

const inner = css({
  display: 'grid',
  gridTemplateColumns: '[minmax(0, 1fr)]',
  gap: { base: '8', md: '12' },
  maxWidth: 'page',
  marginInline: 'auto',
  paddingInline: 'gutter',
});

const reasonIcons = ['voice', 'lock', 'path', 'moon'] as const;

export function Reasons() {
  return (
    <Section
      id="why"
      title={landingWords.reasonsTitle}
      lead={landingWords.reasonsLead}
      tone="sunken"
    >
      <ul className={grid}>
        {landingWords.reasons.map(({ title, text }, index) => (
          <li
            key={title}
            className={card({ look: 'raised' })}
          >
            <span className={sign}>
              <Icon name={reasonIcons[index] ?? 'path'} />
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

export function Steps() {
  return (
    <Section
      id="steps"
      title={landingWords.stepsTitle}
    >
      <ol className={steps}>
        {landingWords.steps.map(({ title, text }) => (
          <li key={title}>
            <h3 className={css({ textStyle: 'subheading' })}>{title}</h3>
            <p className={css({ color: 'muted', marginTop: '2' })}>{text}</p>
          </li>
        ))}
      </ol>
    </Section>
  );
}

const steps = css({
  counterReset: 'step',
  display: 'grid',
  gridTemplateColumns: { base: '[minmax(0, 1fr)]', md: '[repeat(3, minmax(0, 1fr))]' },
  gap: '8',
  '& li': {
    counterIncrement: 'step',
    borderTopWidth: 'thick',
    borderColor: 'primary',
    paddingTop: '5',
  },
  '& li::before': {
    content: 'counter(step)',
    display: 'block',
    textStyle: 'title',
    color: 'primary',
    marginBottom: '3',
  },
});

export function CallToAction() {
  return (
    <section
      className={callToAction}
      aria-labelledby="call-to-action"
    >
      <svg
        className={hills}
        viewBox="0 0 1440 220"
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <path
          className={css({ fill: 'scene.far' })}
          d="M0 96c190-82 372-92 560-26 200 70 330 66 500-4 150-62 262-54 380-8v162H0Z"
        />
        <path
          className={css({ fill: 'scene.middle' })}
          d="M0 150c260-70 420-28 640-4 260 28 400-84 800-24v98H0Z"
        />
        <path
          className={css({ fill: 'scene.near' })}
          d="M0 190c330-60 560-30 800-14 250 16 420-22 640-40v84H0Z"
        />
      </svg>
      <div
        className={css({
          position: 'relative',
          display: 'grid',
          justifyItems: 'center',
          gap: '5',
          textAlign: 'center',
          paddingInline: 'gutter',
        })}
      >
        <h2
          id="call-to-action"
          className={css({ textStyle: 'title' })}
        >
          {landingWords.callToActionTitle}
        </h2>
        <p className={css({ textStyle: 'lead', color: 'muted' })}>
          {landingWords.callToActionText}
        </p>
        <ExternalLink
          href={chatLink()}
          className={button({ size: 'lg' })}
          label={landingWords.callToActionLink}
        />
      </div>
    </section>
  );
}

const callToAction = css({
  position: 'relative',
  paddingTop: 'section',
  paddingBottom: '[clamp(10rem, 24vw, 17rem)]',
  backgroundColor: 'scene.sky',
  overflow: 'hidden',
});
const hills = css({
  position: 'absolute',
  insetInline: '0',
  bottom: '0',
  width: 'full',
  height: '[clamp(8rem, 20vw, 14rem)]',
});
