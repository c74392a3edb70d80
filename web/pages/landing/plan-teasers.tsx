import { Link } from '@tanstack/react-router';
import { type PlanId, plansOnSale } from '#contract/plans';
import { css } from '#styled/css';
import { button, card } from '#styled/recipes';
import { landingWords } from '#words/landing';
import { Section } from './sections.tsx';
import { planTexts } from '../../rules/plan-texts.ts';
import { Icon } from '../../ui/icons.tsx';
import { TextByMembership } from '../../ui/text.tsx';
import { useSession, useMembership } from '../../data/session.ts';

export function PlanTeasers() {
  return (
    <Section
      id="plans"
      title={landingWords.plansTitle}
      lead={landingWords.plansLead}
    >
      <ul className={grid}>
        {plansOnSale().map((plan) => (
          <Teaser
            key={plan.id}
            id={plan.id}
          />
        ))}
      </ul>
      <Link
        to="/plans"
        className={`${button({ look: 'outline', size: 'lg' })} ${css({ justifySelf: 'start' })}`}
      >
        {landingWords.viewAllPlans}
      </Link>
    </Section>
  );
}

const grid = css({
  display: 'grid',
  gridTemplateColumns: {
    base: '[minmax(0, 1fr)]',
    md: '[repeat(2, minmax(0, 1fr))]',
    xl: '[repeat(auto-fit, minmax(14rem, 1fr))]',
  },
  gap: '5',
});

function Teaser({ id }: { id: PlanId }) {
  const membership = useMembership();
  const isSignedIn = membership === 'member';
  const isUnknown = useSession(({ isInitializing, isLoading }) => isInitializing || isLoading);
  const { text, features } = landingWords.teasers[id];
  const { name, price } = planTexts(id);
  const label = isSignedIn ? landingWords.managePlanLabel : landingWords.getStartedLabel;
  return (
    <li className={`${card()} ${css({ gap: '4' })}`}>
      <div>
        <h3 className={css({ textStyle: 'subheading' })}>{name}</h3>
        <p className={css({ color: 'muted', fontSize: 'sm' })}>{text}</p>
      </div>
      <p
        className={css({
          textStyle: 'figure',
          fontSize: '2xl',
          color: 'primary',
        })}
      >
        {price}
      </p>
      <ul className={list}>
        {features.map((feature) => (
          <li key={feature}>
            <Icon name="check" />
            {feature}
          </li>
        ))}
      </ul>
      <Link
        to={isSignedIn ? '/account' : '/login'}
        className={button({ look: 'soft', wide: true })}
        aria-label={label(name)}
        onClick={(event) => isUnknown && event.preventDefault()}
      >
        <TextByMembership
          membership={membership}
          guest={landingWords.getStarted}
          member={landingWords.managePlan}
        />
      </Link>
    </li>
  );
}

const list = css({
  display: 'grid',
  gap: '2',
  marginBottom: 'auto',
  fontSize: 'sm',
  '& li': { display: 'flex', gap: '2' },
  '& svg': { color: 'primary', marginTop: '[0.15em]' },
});
