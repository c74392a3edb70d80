import { helpLines } from '#contract/help-lines';
import { css } from '#styled/css';
import { field } from '#styled/recipes';
import { Icon } from '../../ui/icon.tsx';
import { helpWords } from '../../words/help.ts';

type Props = { country: string; choose: (country: string) => void };

/** Chooses the country of the shown lines; hidden without JavaScript. */
export function CountryChoice({ country, choose }: Props) {
  const styles = field();
  return (
    <div className={`${styles.root} ${css({ _unscripted: { display: 'none' } })}`}>
      <label htmlFor="country" className={styles.label}>
        {helpWords.country}
      </label>
      <div className={css({ position: 'relative' })}>
        <select
          id="country"
          className={`${styles.input} ${css({ appearance: 'none', cursor: 'pointer' })}`}
          aria-describedby="country-hint"
          value={country}
          onChange={({ target }) => choose(target.value)}
        >
          <option value="">{helpWords.choose}</option>
          {Object.entries(helpLines).map(([code, { name }]) => (
            <option key={code} value={code}>
              {name}
            </option>
          ))}
        </select>
        <span className={arrow}>
          <Icon name="chevron" />
        </span>
      </div>
      <p id="country-hint" className={styles.hint}>
        {helpWords.countryHint}
      </p>
    </div>
  );
}

// Chromium draws its own arrow at the very edge, whatever the padding.
const arrow = css({
  position: 'absolute',
  insetBlock: '0',
  insetInlineEnd: '4',
  display: 'grid',
  alignItems: 'center',
  pointerEvents: 'none',
});
