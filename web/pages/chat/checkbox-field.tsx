import { css } from '#styled/css';

type Props = { checked: boolean; onChange: (checked: boolean) => void; label: string };

/** A native checkbox with a clickable label. */
export function CheckboxField({ checked, onChange, label }: Props) {
  return (
    <label
      className={css({ display: 'flex', gap: '3', alignItems: 'flex-start', minHeight: 'touch', cursor: 'pointer' })}
    >
      <input
        type="checkbox"
        required
        checked={checked}
        onChange={({ target }) => onChange(target.checked)}
        className={css({ flex: 'none', width: '[1.5rem]', height: '[1.5rem]', marginTop: '[0.125rem]' })}
      />
      <span>{label}</span>
    </label>
  );
}
