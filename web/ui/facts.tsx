import { css } from '#styled/css';

export type Fact = { name: string; text: string };

export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={list}>
      {facts.map(({ name, text }) => (
        <div
          key={name}
          className={row}
        >
          <dt className={css({ fontWeight: 'semibold' })}>{name}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}

const list = css({
  display: 'grid',
  borderTopWidth: 'thin',
  borderColor: 'line',
});

const row = css({
  display: 'grid',
  gridTemplateColumns: { base: '[minmax(0, 1fr)]', sm: '[minmax(0, 3fr) minmax(0, 5fr)]' },
  columnGap: '4',
  rowGap: '1',
  paddingBlock: '3',
  borderBottomWidth: 'thin',
  borderColor: 'line',
  overflowWrap: 'anywhere',
});
