import { css } from '#styled/css';
import { card, page, skeleton, spinner } from '#styled/recipes';
import type { AccountSummary } from '../../rules/account-summary.ts';
import { useSession } from '../../data/use-session.ts';
import { accountWords, usageWords } from '../../words/account.ts';
import { layoutWords } from '../../words/layout.ts';
import { CardHead } from './card-head.tsx';
import { column, columns } from './columns.tsx';
import { statusHeight } from './status-height.tsx';

/** The account page before its user is known; part of the served HTML, in which `fill-account.ts` fills the slots. */
export function AccountSkeleton() {
  const isInitializing = useSession((session) => session.isInitializing);
  return (
    <div className={page()} aria-busy="true">
      <header className={css({ minHeight: { base: '[11.25rem]', sm: '[7.5rem]', md: 'auto' }, marginBottom: '8' })}>
        <h1 className={css({ textStyle: 'small', color: 'muted', fontWeight: 'semibold' })}>{accountWords.title}</h1>
        <Slot name="phone" className={css({ textStyle: 'figure', fontSize: '2xl' })} />
        <output className={label} data-slot="start">
          <span className={spinner({ size: 'sm' })} aria-hidden="true" />
          {isInitializing ? layoutWords.loadingApplication : accountWords.loading}
        </output>
      </header>
      <div className={columns}>
        <div className={column}>
          <section className={card({ look: 'raised' })} aria-labelledby="current-plan">
            <CardHead id="current-plan" title={accountWords.currentPlan} />
            <Slot name="plan" className={css({ textStyle: 'title', color: 'primary' })} />
            <Slot name="description" className={css({ color: 'muted', minHeight: { base: '[2lh]', md: '[1lh]' } })} />
            <Slot name="status" className={`${statusHeight} ${css({ fontWeight: 'semibold' })}`} />
          </section>
          <section className={card({ look: 'raised' })} aria-labelledby="usage">
            <CardHead id="usage" title={usageWords.title} />
            <div className={usage}>
              <Slot name="usageLabel" className={css({ textStyle: 'small', color: 'muted' })} />
              <Slot name="usage" className={css({ fontWeight: 'semibold', fontVariantNumeric: 'tabular-nums' })} />
            </div>
          </section>
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

/** A text of the profile; a skeleton while it is empty. */
function Slot({ name, className }: { name: keyof AccountSummary; className: string }) {
  return <p data-slot={name} className={`${slot} ${className}`} />;
}

function SkeletonCard({ lines }: { lines: number }) {
  return (
    <div className={card({ look: 'raised' })} aria-hidden="true">
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} className={`${skeleton()} ${line}`} />
      ))}
    </div>
  );
}

const slot = css({
  '&:empty': { width: '[min(14rem, 45%)]', borderRadius: 'sm', backgroundColor: 'sunken' },
  // As high as its later text.
  '&:empty::before': { content: '"\\00a0"' },
});
/** Both texts begin at the left edge whatever they say, so that nothing moves when they come. */
const usage = css({
  display: 'grid',
  '& > p': { gridArea: '[1 / 1]' },
  '& > p:first-child': { marginInlineEnd: '16' },
  '& > p:last-child': { textAlign: 'end' },
  '& > p:last-child:empty': { width: 'full', backgroundColor: 'transparent' },
});
const label = css({ display: 'flex', alignItems: 'center', gap: '3', marginTop: '2', color: 'muted' });
const line = css({ height: '[2.75rem]', borderRadius: 'md' });
