import { planOf } from '#contract/plans';
import { css } from '#styled/css';
import { badge, card } from '#styled/recipes';
import { statusLine } from '../../rules/status-line.ts';
import type { User } from '../../rules/read-user.ts';
import { accountWords } from '../../words/account.ts';
import { CardHead } from './card-head.tsx';
import { RefreshButton } from './refresh-button.tsx';
import { statusBox, statusHint, statusText } from './status-box.tsx';

/** The user's plan and its next change. */
export function CurrentPlanCard({ user }: { user: User }) {
  const { metadata } = user;
  const plan = planOf(metadata.subscriptionTier);
  const line = statusLine({ ...metadata, scheduledTierId: metadata.scheduledDowngradeTierId });
  return (
    <section className={card({ look: 'raised' })} aria-labelledby="current-plan">
      <CardHead id="current-plan" title={accountWords.currentPlan}>
        <RefreshButton label={accountWords.refreshPlan} />
      </CardHead>
      <div className={css({ display: 'flex', flexWrap: 'wrap', alignItems: 'center', columnGap: '4', rowGap: '2' })}>
        <p className={css({ textStyle: 'title', color: 'primary' })}>{plan.name}</p>
        {user.isTrial && <span className={badge({ look: 'warm' })}>{accountWords.freeTrial}</span>}
      </div>
      <p className={css({ color: 'muted' })}>{plan.description}</p>
      <div className={statusBox} data-tone={line.tone}>
        <p className={statusText}>{line.text}</p>
        {line.hint && <p className={statusHint}>{line.hint}</p>}
      </div>
    </section>
  );
}
