import { css } from '#styled/css';
import { card, page, skeleton, spinner } from '#styled/recipes';
import { useSession } from '../../data/session.ts';
import { accountWords, usageWords } from '#words/account';
import { layoutWords } from '#words/layout';
import { AccountHeader, phoneStyle, AccountCard, column, columns } from './account-layout.tsx';
import { statusBox, statusText } from './current-plan-card.tsx';

export function AccountSkeleton() {
  return (
    <div
      className={page()}
      aria-busy="true"
    >
      <AccountHeader isKnown={false}>
        <Slot className={phoneStyle} />
      </AccountHeader>
      <div className={columns}>
        <div className={column}>
          <PlanSkeleton />
          <UsageSkeleton />
          <SkeletonCard lines={6} />
        </div>
        <div className={column}>
          <SkeletonCard lines={3} />
          <SkeletonCard lines={6} />
        </div>
      </div>
    </div>
  );
}

function PlanSkeleton() {
  return (
    <AccountCard
      id="current-plan"
      title={accountWords.currentPlan}
      beside={<State />}
    >
      <Slot className={css({ textStyle: 'title', color: 'primary' })} />
      <Slot
        className={css({
          color: 'muted',
          minHeight: { base: '[3.2em]', md: '[1.6em]' },
        })}
      />
      <div
        className={statusBox}
        data-tone="calm"
      >
        <Slot className={statusText} />
      </div>
    </AccountCard>
  );
}

function State() {
  const isInitializing = useSession((session) => session.isInitializing);
  return (
    <output className={label}>
      <span
        className={spinner({ size: 'sm' })}
        aria-hidden="true"
      />
      <span>{isInitializing ? layoutWords.loadingApplication : layoutWords.loadingAccount}</span>
    </output>
  );
}

function UsageSkeleton() {
  return (
    <AccountCard
      id="usage"
      title={usageWords.title}
    >
      <div className={css({ display: 'grid', gap: '2' })}>
        <div className={usage}>
          <Slot className={css({ textStyle: 'small', color: 'muted' })} />
          <Slot className={css({ fontWeight: 'semibold', fontVariantNumeric: 'tabular-nums' })} />
        </div>
        <span className={`${skeleton()} ${css({ height: '[0.75rem]', borderRadius: 'full' })}`} />
      </div>
    </AccountCard>
  );
}

const Slot = ({ className }: { className: string }) => <p className={`${slot} ${className}`} />;

function SkeletonCard({ lines }: { lines: number }) {
  return (
    <div
      className={card({ look: 'raised' })}
      aria-hidden="true"
    >
      {Array.from({ length: lines }, (_, index) => (
        <span
          key={index}
          className={`${skeleton()} ${line}`}
        />
      ))}
    </div>
  );
}

const slot = css({
  '&:empty': { width: '[min(14rem, 45%)]', borderRadius: 'sm', backgroundColor: 'sunken' },
  // As high as its later text.
  '&:empty::before': { content: '"\\00a0"' },
});
/** Both texts begin at the left edge, so that nothing moves. */
const usage = css({
  display: 'grid',
  alignItems: 'baseline',
  '& > p': { gridArea: '[1 / 1]' },
  '& > p:first-child': { marginInlineEnd: '16' },
  '& > p:last-child': { textAlign: 'end' },
  '& > p:last-child:empty': { width: 'full', backgroundColor: 'transparent' },
});
const label = css({
  // The text beside it may take two lines.
  flex: '1',
  display: 'flex',
  justifyContent: 'flex-end',
  alignItems: 'center',
  gap: '2',
  textStyle: 'fine',
  color: 'muted',
});
const line = css({ height: '[2.75rem]', borderRadius: 'md' });
