import { type Plan, type PlanId, plans } from '#contract/plans';
import type { CSSProperties, ReactNode } from 'react';
import { css } from '#styled/css';
import { badge } from '#styled/recipes';
import { compareWords } from '#words/account';
import { AccountCard } from './account-layout.tsx';
import { planTexts } from '../../rules/plan-texts.ts';
import { Icon } from '../../ui/icons.tsx';
import { visuallyHidden } from '../../ui/visually-hidden.ts';

const rows: { name: string; cell: (plan: Plan) => ReactNode }[] = [
  {
    name: compareWords.messages,
    cell: ({ messageLimit }) => (messageLimit === -1 ? compareWords.unlimited : messageLimit),
  },
  { name: compareWords.voice, cell: ({ hasVoice = false }) => <Tick isIncluded={hasVoice} /> },
  { name: compareWords.support, cell: ({ id }) => compareWords.supportLevels[id] },
  { name: compareWords.priority, cell: ({ id }) => <Tick isIncluded={id === 'platinum'} /> },
];

/** On a phone each feature is above its values. */
export function ComparePlans({ current }: { current: PlanId }) {
  const columns = Object.values(plans)
    .filter(({ id, onSale }) => onSale || id === current)
    .toSorted((a, b) => a.level - b.level);
  return (
    <AccountCard
      id="compare"
      title={compareWords.title}
    >
      <section
        className={scroller}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label={compareWords.scroll}
      >
        <table
          className={table}
          style={{ '--plans': columns.length } as CSSProperties}
        >
          <thead>
            <tr>
              <th scope="col">{compareWords.feature}</th>
              {columns.map((plan) => (
                <th
                  key={plan.id}
                  scope="col"
                  data-current={plan.id === current || undefined}
                >
                  <PlanHead
                    id={plan.id}
                    isCurrent={plan.id === current}
                  />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, cell }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {columns.map((plan) => (
                  <td
                    key={plan.id}
                    data-current={plan.id === current || undefined}
                  >
                    {cell(plan)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </AccountCard>
  );
}

function PlanHead({ id, isCurrent }: { id: PlanId; isCurrent: boolean }) {
  const { name, price } = planTexts(id);
  return (
    <>
      <span className={css({ display: 'block', fontWeight: 'bold' })}>{name}</span>
      <span
        className={css({
          display: 'block',
          color: 'muted',
          fontWeight: 'normal',
        })}
      >
        {price}
      </span>
      {isCurrent && <span className={`${badge()} ${mark}`}>{compareWords.current}</span>}
    </>
  );
}

const scroller = css({
  position: 'relative',
  overflowX: 'auto',
  borderRadius: 'sm',
  marginInline: { base: '[-0.75rem]', md: '0' },
});

const table = css({
  fontSize: { base: '[clamp(0.6875rem, 3.2vw, 0.8125rem)]', md: 'sm' },
  '& tr': {
    display: { base: 'grid', md: 'table-row' },
    gridTemplateColumns: '[repeat(var(--plans), minmax(0, 1fr))]',
  },
  '& th, & td': {
    paddingBlock: { base: '2', md: '3' },
    paddingInline: { base: '0', md: '3', lg: '1', xl: '3' },
    textAlign: 'center',
    verticalAlign: 'top',
  },
  '& td, & thead th': { gridRow: '2' },
  '& th:first-child': {
    gridRow: '1',
    gridColumn: '1 / -1',
    position: { md: 'sticky' },
    insetInlineStart: '0',
    backgroundColor: 'raised',
    textAlign: 'start',
    fontWeight: 'medium',
    paddingInline: { base: '0', md: '3', lg: '1', xl: '3' },
  },
  '& tbody tr': { borderTopWidth: 'thin', borderColor: 'line' },
  '& [data-current]': { backgroundColor: 'sunken' },
  '& thead [data-current]': { borderStartStartRadius: 'md', borderStartEndRadius: 'md' },
  '& tbody tr:last-child [data-current]': { borderEndStartRadius: 'md', borderEndEndRadius: 'md' },
});

const mark = css({
  marginTop: '2',
  paddingInline: { base: '[0.125rem]', md: '3' },
  fontSize: { base: '[inherit]', md: 'xs' },
  whiteSpace: { base: 'normal', md: 'nowrap', lg: 'normal', xl: 'nowrap' },
  borderRadius: { base: 'sm', md: 'full' },
});

function Tick({ isIncluded }: { isIncluded: boolean }) {
  return (
    <span className={isIncluded ? included : missing}>
      <Icon name={isIncluded ? 'check' : 'dash'} />
      <span className={visuallyHidden}>{isIncluded ? compareWords.yes : compareWords.no}</span>
    </span>
  );
}

const included = css({ display: 'inline-grid', color: 'primary' });
const missing = css({ display: 'inline-grid', color: 'muted' });
