import { Link, useRouter } from '@tanstack/react-router';
import { plansOnSale, type Plan } from '#contract/plans';
import { css } from '#styled/css';
import { link, page, badge, card, button } from '#styled/recipes';
import { Sentence } from '../../ui/text.tsx';
import { plansWords } from '#words/plans';
import { planTextWords } from '#words/plan-texts';
import { isWithdrawable } from '#words/language';
import { formatDate } from '../../rules/formats.ts';
import { planOffer } from '../../rules/plan-offer.ts';
import { planName, planTexts } from '../../rules/plan-texts.ts';
import { Icon } from '../../ui/icons.tsx';
import { useSession, useMembership } from '../../data/session.ts';

const byLevel = plansOnSale().toSorted((a, b) => a.level - b.level);

export function PlansPage() {
  return (
    <div className={page()}>
      <header
        className={css({
          display: 'grid',
          gap: '4',
          justifyItems: 'center',
          textAlign: 'center',
          marginBottom: { base: '8', md: '12' },
        })}
      >
        <h1 className={css({ textStyle: 'display' })}>{plansWords.title}</h1>
        <p
          className={css({
            textStyle: 'lead',
            textWrap: 'balance',
            color: 'muted',
            maxWidth: 'reading',
          })}
        >
          {plansWords.lead}
        </p>
      </header>
      <ul className={grid}>
        {byLevel.map((plan) => (
          <PlanCard
            key={plan.id}
            plan={plan}
          />
        ))}
      </ul>
      <Notes />
    </div>
  );
}

function Notes() {
  return (
    <>
      <p
        className={css({
          marginTop: '12',
          textAlign: 'center',
          color: 'muted',
        })}
      >
        <Sentence parts={plansWords.support({ contact: linkTo('/contact') })} />
      </p>
      {isWithdrawable && (
        <p
          className={css({
            marginTop: '2',
            textAlign: 'center',
            color: 'muted',
          })}
        >
          <Sentence parts={plansWords.withdrawal({ withdraw: linkTo('/withdraw') })} />
        </p>
      )}
    </>
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
  alignItems: 'stretch',
});

const linkTo = (to: '/contact' | '/withdraw') => (text: string) => (
  <Link
    to={to}
    className={link()}
  >
    {text}
  </Link>
);

const popular = 'premium';
const cards = { popular: card({ look: 'featured' }), other: card({ look: 'raised' }) };
const actions = { popular: button({ wide: true }), other: button({ look: 'soft', wide: true }) };

type Rank = keyof typeof cards;

function PlanCard({ plan }: { plan: Plan }) {
  const isPopular = plan.id === popular;
  const rank = isPopular ? 'popular' : 'other';
  const { name, price, fourWeeks, description, features } = planTexts(plan.id);
  return (
    <li
      className={`${cards[rank]} ${css({ position: 'relative', gap: '5', overflowWrap: 'anywhere' })}`}
      aria-labelledby={`plan-${plan.id}`}
    >
      <header
        className={css({
          display: 'grid',
          gridTemplateColumns: '[minmax(0, 1fr)]',
          gap: '3',
        })}
      >
        <h2
          id={`plan-${plan.id}`}
          className={css({ textStyle: 'subheading' })}
        >
          {name}
        </h2>
        {isPopular && (
          <p className={`${badge({ look: 'warm' })} ${ribbon}`}>{plansWords.popular}</p>
        )}
        <Price {...{ price, fourWeeks }} />
        <p className={css({ color: 'muted' })}>{description}</p>
      </header>
      <Features {...{ name, features }} />
      <PlanAction
        plan={plan}
        rank={rank}
      />
    </li>
  );
}

type PriceProps = { price: string; fourWeeks: string | null };

function Price({ price, fourWeeks }: PriceProps) {
  return (
    <>
      <p>
        {/* Four cards leave no room for a larger “29,99 US$”. */}
        <span
          className={css({
            textStyle: 'figure',
            fontSize: { xl: '2xl' },
            color: 'primary',
          })}
        >
          {price}
        </span>{' '}
        <span
          className={css({
            display: 'block',
            textStyle: 'small',
            color: 'muted',
          })}
        >
          {planTextWords.perMonth}
        </span>
      </p>
      {fourWeeks && (
        <p className={css({ textStyle: 'small' })}>
          {plansWords.charged}
          <span className={css({ display: 'block', color: 'muted' })}>
            {plansWords.fourWeeks(fourWeeks)}
          </span>
        </p>
      )}
    </>
  );
}

function Features({ name, features }: { name: string; features: readonly string[] }) {
  return (
    <ul
      className={css({
        display: 'grid',
        gap: '3',
        marginBottom: 'auto',
      })}
      aria-label={plansWords.features(name)}
    >
      {features.map((feature) => (
        <li
          key={feature}
          className={css({ display: 'flex', gap: '3', fontSize: 'sm' })}
        >
          <span className={css({ flexShrink: '0', color: 'primary' })}>
            <Icon name="check" />
          </span>
          {feature}
        </li>
      ))}
    </ul>
  );
}

/** Overlaps the edge, so that plan names stay aligned. */
const ribbon = css({
  position: 'absolute',
  top: '0',
  insetInlineStart: '6',
  translate: '[0 -50%]',
  borderColor: 'warm',
});

function PlanAction({ plan, rank }: { plan: Plan; rank: Rank }) {
  const user = useSession((current) => current.user);
  if (user === null) {
    return (
      <GuestAction
        plan={plan}
        className={actions[rank]}
      />
    );
  }

  const offer = planOffer(plan.id, user);
  if (offer === 'current') return <Mark text={plansWords.current} />;
  if (offer === 'scheduled')
    return <Mark text={plansWords.scheduled(formatDate(user.metadata.renewalDate))} />;
  if (offer === 'manage') {
    return (
      <Link
        to="/account"
        className={button({ look: 'outline', wide: true })}
      >
        {plansWords.manage}
      </Link>
    );
  }
  return (
    <OrderButton
      plan={plan}
      label={labels[offer](planName(plan.id))}
      className={actions[rank]}
    />
  );
}

function GuestAction({ plan, className }: { plan: Plan; className: string }) {
  const membership = useMembership();
  return (
    <Link
      to="/login"
      search={{ plan: plan.id }}
      className={`${className} ${membership === 'unknown' ? hiddenForReturning : ''}`}
    >
      {plan.id === 'free' ? plansWords.start : plansWords.choose(planName(plan.id))}
    </Link>
  );
}

const labels = {
  keep: plansWords.keep,
  choose: plansWords.choose,
  switch: plansWords.switchTo,
};

const Mark = ({ text }: { text: string }) => (
  <p className={current}>
    <span className={`${badge()} ${dated}`}>
      <Icon name="check" />
      {text}
    </span>
  </p>
);

/** Another action replaces it for returning users. */
const hiddenForReturning = css({ _returning: { visibility: 'hidden' } });

/** As high as the button. */
const current = css({
  display: 'flex',
  alignItems: 'center',
  minHeight: 'touch',
});

/** A long date does not fit into a line of the narrowest screens. */
const dated = css({ whiteSpace: 'normal' });

type OrderProps = { plan: Plan; label: string; className: string };

/** Its page loads while the button is being reached. */
function OrderButton({ plan, label, className }: OrderProps) {
  const router = useRouter();
  const order = { to: '/order', search: { plan: plan.id } } as const;
  const preload = () => void router.preloadRoute(order).catch(() => null);
  return (
    <button
      type="button"
      className={className}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => void router.navigate(order)}
    >
      {label}
    </button>
  );
}
