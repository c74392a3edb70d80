import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { paidPlanIds, planOf, type PaidPlanId, type PlanId } from '#contract/plans';
import { css } from '#styled/css';
import { button, link, page } from '#styled/recipes';
import { accountWords } from '#words/account';
import { isWithdrawable } from '#words/language';
import { orderWords } from '#words/order';
import { createSubscriptionSession } from '../../data/billing-pages.ts';
import { useTrialSubscription } from '../../data/trial-subscription.ts';
import { useFreshProfile } from '../../data/profile-query.ts';
import { useSession } from '../../data/session.ts';
import { useAction } from '../../data/use-action.ts';
import { isOwnAddress } from '../../rules/addresses.ts';
import { orderObstacleOf, orderView, payerOf, type OrderObstacle } from '../../rules/order-view.ts';
import { isOrdered, planOffer } from '../../rules/plan-offer.ts';
import { planTexts } from '../../rules/plan-texts.ts';
import type { User } from '../../rules/user-profile.ts';
import { Card } from '../../ui/card.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Facts, type Fact } from '../../ui/facts.tsx';
import { PageSpinner } from '../../ui/spinner.tsx';
import { Sentence } from '../../ui/text.tsx';

/** Directive 2011/83/EU, articles 6 and 8: what is told before paying. */
export function OrderPage() {
  const user = useSession((current) => current.user);
  const token = useSession((current) => current.token);
  useFreshProfile();
  return (
    user &&
    token !== null && (
      <Order
        user={user}
        token={token}
      />
    )
  );
}

function Order({ user, token }: { user: User; token: string }) {
  const { plan } = useSearch({ from: '/order' });
  const { subscription } = useTrialSubscription(user, token);
  const tier = paidPlanIds.find((id) => id === plan);
  const isOffered = tier && planOf(tier).onSale && isOrdered(planOffer(tier, user));
  if (!isOffered) return <Elsewhere />;
  if (user.isTrial && subscription === 'loading') return <PageSpinner label={orderWords.opening} />;

  const payer = payerOf(user, subscription);
  const obstacle = orderObstacleOf(payer);
  if (obstacle) return <InTheWay {...obstacle} />;
  return (
    <Review
      key={tier}
      tier={tier}
      user={payer}
    />
  );
}

/** Leads to the page that removes the obstacle: ours, or Stripe's. */
function InTheWay({ title, text, action, way }: OrderObstacle) {
  const { isOpening, open } = useCheckout();
  return (
    <OrderCard title={title}>
      <p>{text}</p>
      {way === '/cancel' ? (
        <Link
          to={way}
          className={button({ size: 'lg', wide: true })}
        >
          {action}
        </Link>
      ) : (
        <OpeningButton
          isOpening={isOpening}
          label={action}
          onClick={() => open()}
        />
      )}
    </OrderCard>
  );
}

type OpeningProps = { isOpening: boolean; label: string; onClick: () => void };

const OpeningButton = ({ isOpening, label, onClick }: OpeningProps) => (
  <button
    type="button"
    className={button({ size: 'lg', wide: true })}
    aria-busy={isOpening}
    onClick={onClick}
  >
    {isOpening ? orderWords.opening : label}
  </button>
);

function OrderCard({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={page({ width: 'form' })}>
      <Card id="order">
        <h1
          id="order"
          className={css({ textStyle: 'heading' })}
        >
          {title}
        </h1>
        {children}
        <Link
          to="/plans"
          className={button({ look: 'quiet', wide: true })}
        >
          {orderWords.back}
        </Link>
      </Card>
    </div>
  );
}

function Elsewhere() {
  const navigate = useNavigate();
  useEffect(() => void navigate({ to: '/plans', replace: true }), [navigate]);
  return null;
}

function Review({ tier, user }: { tier: PaidPlanId; user: User }) {
  const [startsNow, setStartsNow] = useState(false);
  const { isOpening, open } = useCheckout(tier);
  const { first, action, concludes } = orderView(planOf(tier), user);
  const asks = isWithdrawable && concludes;
  return (
    <OrderCard title={orderWords.title}>
      <Facts facts={factsOf(tier, first, concludes)} />
      {asks && (
        <Checkbox
          label={orderWords.startNow}
          hint={orderWords.startNowText}
          isChecked={startsNow}
          onChange={setStartsNow}
        />
      )}
      <p className={css({ textStyle: 'small', color: 'muted' })}>
        {orderWords.lead} <Sentence parts={orderWords.terms({ terms: termsLink })} />
      </p>
      <OpeningButton
        isOpening={isOpening}
        label={action}
        onClick={() => open(asks && startsNow)}
      />
    </OrderCard>
  );
}

function factsOf(id: PlanId, first: string, concludes: boolean): Fact[] {
  const { name, price, fourWeeks, features } = planTexts(id);
  const [messages = ''] = features;
  const facts = [
    { name: orderWords.plan, text: orderWords.planText({ plan: name, messages }) },
    {
      name: orderWords.price,
      text: orderWords.priceText({ price, fourWeeks: fourWeeks ?? price }),
    },
    { name: orderWords.first, text: first },
    { name: orderWords.renewal, text: orderWords.renewalText },
    { name: orderWords.cancel, text: orderWords.cancelText },
  ];
  const withdrawal = { name: orderWords.withdrawal, text: orderWords.withdrawalText };
  return isWithdrawable && concludes ? [...facts, withdrawal] : facts;
}

const termsLink = (text: string): ReactNode => (
  <Link
    to="/terms"
    className={link()}
  >
    {text}
  </Link>
);

function useCheckout(tier?: PaidPlanId) {
  const [isOpening, run] = useAction();
  const navigate = useNavigate();

  const go = async (startsNow?: boolean) => {
    const { pathname } = location;
    const url = await createSubscriptionSession(tier, startsNow);
    if (location.pathname !== pathname) return;
    if (isOwnAddress(url, location.href)) return navigate({ href: url });
    location.assign(url);
  };

  const failed = { title: accountWords.error, fallback: orderWords.failed };
  return { isOpening, open: (startsNow?: boolean) => run(() => go(startsNow), failed) };
}
