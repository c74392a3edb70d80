import { useId } from 'react';
import { css } from '#styled/css';

type Props = {
  label: string;
  hint?: string;
  isRequired?: boolean;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
};

/** Never ticked in advance; the hint is read after the label. */
export function Checkbox({ label, hint, isRequired = false, isChecked, onChange }: Props) {
  const id = useId();
  return (
    <label className={row}>
      <input
        type="checkbox"
        required={isRequired}
        checked={isChecked}
        onChange={({ target }) => onChange(target.checked)}
        aria-labelledby={`${id}label`}
        aria-describedby={hint ? `${id}hint` : undefined}
        className={box}
      />
      <span className={css({ display: 'grid', gap: '1' })}>
        <span id={`${id}label`}>{label}</span>
        {hint && (
          <span
            id={`${id}hint`}
            className={css({ textStyle: 'small', color: 'muted' })}
          >
            {hint}
          </span>
        )}
      </span>
    </label>
  );
}

const row = css({
  display: 'flex',
  gap: '3',
  alignItems: 'flex-start',
  minHeight: 'touch',
  cursor: 'pointer',
});

const box = css({
  flex: 'none',
  width: '[1.5rem]',
  height: '[1.5rem]',
  marginTop: '[0.125rem]',
});
