import { RadioGroup } from '@ark-ui/react/radio-group';
import { radioCards } from '#styled/recipes';
import { TextDirection } from './text-direction.tsx';

type Option<T extends string> = { value: T; label: string };
type Props<T extends string> = {
  labelledBy: string;
  options: readonly Option<T>[];
  value: T;
  onChange: (value: T) => void;
  disabled?: boolean;
};

/** A radio group of cards; the whole card is clickable. */
export function RadioCards<T extends string>({ labelledBy, options, value, onChange, disabled = false }: Props<T>) {
  const styles = radioCards();
  return (
    <TextDirection>
      <RadioGroup.Root
        className={styles.root}
        aria-labelledby={labelledBy}
        value={value}
        disabled={disabled}
        onValueChange={(change) => onChange(change.value as T)}
      >
        {options.map((option) => (
          <RadioGroup.Item key={option.value} value={option.value} className={styles.item}>
            <RadioGroup.ItemControl className={styles.control} />
            <RadioGroup.ItemText className={styles.text}>{option.label}</RadioGroup.ItemText>
            <RadioGroup.ItemHiddenInput />
          </RadioGroup.Item>
        ))}
      </RadioGroup.Root>
    </TextDirection>
  );
}
