import { type Plan, type PlanId, planIds, plans } from '#contract/plans';
import type { ReactNode } from 'react';
import { css } from '#styled/css';
import { badge, card } from '#styled/recipes';
import { compareWords } from '../words/account.ts';
import { CardHead } from './card-head.tsx';
import { Tick } from './tick.tsx';

const columns = planIds.map((id) => plans[id]);

const rows: { name: string; cell: (plan: Plan) => ReactNode }[] = [
  {
    name: compareWords.messages,
    cell: ({ messageLimit }) => (messageLimit === -1 ? compareWords.unlimited : messageLimit),
  },
  { name: compareWords.voice, cell: ({ id }) => <Tick isIncluded={id !== 'free'} /> },
  { name: compareWords.support, cell: ({ id }) => compareWords.supportLevels[id] },
  { name: compareWords.priority, cell: ({ id }) => <Tick isIncluded={id === 'platinum'} /> },
];

/** The four plans side by side. */
export function ComparePlans({ current }: { current: PlanId }) {
  return (
    <section className={card({ look: 'raised' })} aria-labelledby="compare">
      <CardHead id="compare" title={compareWords.title} />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reachable by keyboard */}
      <section className={scroller} tabIndex={0} aria-label={compareWords.scroll}>
        <table className={table}>
          <thead>
            <tr>
              <th scope="col">{compareWords.feature}</th>
              {columns.map((plan) => (
                <th key={plan.id} scope="col" data-current={plan.id === current || undefined}>
                  <span className={css({ display: 'block', fontWeight: 'bold' })}>{plan.name}</span>
                  <span className={css({ display: 'block', color: 'muted', fontWeight: 'normal' })}>{plan.price}</span>
                  {plan.id === current && (
                    <span className={`${badge()} ${css({ marginTop: '2' })}`}>{compareWords.current}</span>
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, cell }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {columns.map((plan) => (
                  <td key={plan.id} data-current={plan.id === current || undefined}>
                    {cell(plan)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

const scroller = css({ position: 'relative', overflowX: 'auto', borderRadius: 'sm' });

const table = css({
  minWidth: '[38rem]',
  fontSize: 'sm',
  '& th, & td': { padding: '3', textAlign: 'center', verticalAlign: 'top' },
  '& th:first-child': {
    position: 'sticky',
    insetInlineStart: '0',
    backgroundColor: 'raised',
    textAlign: 'start',
    fontWeight: 'medium',
  },
  '& tbody tr': { borderTopWidth: 'thin', borderColor: 'line' },
  '& [data-current]': { backgroundColor: 'sunken' },
  '& thead [data-current]': { borderTopRadius: 'md' },
  '& tbody tr:last-child [data-current]': { borderBottomRadius: 'md' },
});
