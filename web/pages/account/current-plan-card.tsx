import { planOf } from '#contract/plans';
import { css } from '#styled/css';
import { badge } from '#styled/recipes';
import { statusLine } from '../../rules/account-view.ts';
import type { User } from '../../rules/user-profile.ts';
import { planTexts } from '../../rules/plan-texts.ts';
import { accountWords } from '#words/account';
import { AccountCard, RefreshButton } from './account-layout.tsx';

export function CurrentPlanCard({ user }: { user: User }) {
  const { metadata } = user;
  const { name, description } = planTexts(planOf(metadata.subscriptionTier).id);
  const line = statusLine({ ...metadata, scheduledTierId: metadata.scheduledDowngradeTierId });
  return (
    <AccountCard
      id="current-plan"
      title={accountWords.currentPlan}
      action={<RefreshButton label={accountWords.refreshPlan} />}
    >
      <div
        className={css({
          display: 'flex',
          flexWrap: 'wrap',
          alignItems: 'center',
          columnGap: '4',
          rowGap: '2',
        })}
      >
        <p className={css({ textStyle: 'title', color: 'primary' })}>{name}</p>
        {user.isTrial && <span className={badge({ look: 'warm' })}>{accountWords.freeTrial}</span>}
      </div>
      <p className={css({ color: 'muted' })}>{description}</p>
      <div
        className={statusBox}
        data-tone={line.tone}
      >
        <p className={statusText}>{line.text}</p>
        {line.hint && <p className={statusHint}>{line.hint}</p>}
      </div>
    </AccountCard>
  );
}

/** Room for two lines, so that nothing moves. */
export const statusBox = css({
  display: 'grid',
  alignContent: 'center',
  minHeight: { base: '[calc(3.2em + 1.5rem)]', sm: 'auto' },
  paddingBlock: '3',
  paddingInline: '4',
  borderRadius: 'md',
  borderWidth: 'thin',
  borderColor: 'transparent',
  backgroundColor: 'primarySoft',
  '&[data-tone=warm]': { backgroundColor: 'warmSoft', color: 'onWarmSoft' },
  '&[data-tone=danger]': { borderColor: 'danger', backgroundColor: 'dangerSoft', color: 'danger' },
});
export const statusText = css({ fontWeight: 'semibold' });
const statusHint = css({ textStyle: 'small' });
