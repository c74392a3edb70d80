import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Platform } from '#contract/schemas';
import { useRef, useState, type Ref } from 'react';
import { flushSync } from 'react-dom';
import { button, radioCards } from '#styled/recipes';
import { platformWords, accountWords } from '#words/account';
import { request } from '../../data/api-client.ts';
import { ApiError } from '../../data/api-error.ts';
import { notifyError } from '../../data/error-toasts.ts';
import { showToast } from '../../data/toasts.ts';
import { useSession } from '../../data/session.ts';
import { NoticeSetting } from './notice-setting.tsx';
import { RadioGroup } from '@ark-ui/react/radio-group';
import { TextDirection } from '../../ui/text-direction.tsx';

const options = (['whatsapp', 'web'] as const).map((value) => ({
  value,
  label: platformWords.options[value],
}));

export type PlatformChoiceProps = { current: Platform; queryKey: readonly unknown[] };

export default function PlatformChoice({ current, queryKey }: PlatformChoiceProps) {
  const [chosen, setChosen] = useState<Platform>(current);
  const [isBusy, setBusy] = useState(false);
  const cards = useRef<HTMLDivElement>(null);
  const client = useQueryClient();
  const token = useSession((session) => session.token);

  const update = async () => {
    if (isBusy || chosen === current) return;
    setBusy(true);
    const stored = await updatePlatform(chosen);
    flushSync(() => setBusy(false));
    if (!stored) return;
    // The button takes its focus along.
    cards.current?.querySelector<HTMLElement>(':checked')?.focus();
    client.setQueryData(queryKey, { success: true, platform: stored });
  };

  return (
    <>
      <RadioCards
        ref={cards}
        labelledBy="platform"
        options={options}
        value={chosen}
        onChange={setChosen}
        disabled={isBusy}
      />
      {current === 'web' && chosen === 'web' && (
        <>
          <Link
            to="/chat"
            className={button({ look: 'soft', wide: true })}
          >
            {platformWords.openChat}
          </Link>
          {token !== null && <NoticeSetting token={token} />}
        </>
      )}
      {chosen !== current && (
        <button
          type="button"
          className={button({ wide: true })}
          aria-busy={isBusy}
          onClick={() => void update()}
        >
          {isBusy ? platformWords.updating : platformWords.update}
        </button>
      )}
    </>
  );
}

type PartialPlatform = { success?: boolean; platform?: Platform; message?: string };

/** Returns the stored platform; null after a failure. */
export async function updatePlatform(wanted: Platform): Promise<Platform | null> {
  try {
    const { success, platform, message }: PartialPlatform = await request('putPlatform', {
      platform: wanted,
    });
    if (!success) throw new ApiError(platformWords.failed, { toast: message ?? null, status: 200 });

    const stored = platform ?? wanted;
    showToast({
      type: 'success',
      title: platformWords.updated,
      description: platformWords.updatedTo[stored],
    });
    return stored;
  } catch (error) {
    const isRefusal = error instanceof ApiError && error.status !== null;
    if (isRefusal)
      notifyError(error, { title: platformWords.failedTitle, fallback: platformWords.failed });
    else notifyError(error, { title: accountWords.error, text: platformWords.failed });
    return null;
  }
}

type Option<T extends string> = { value: T; label: string };
type CardsProps<T extends string> = {
  ref?: Ref<HTMLDivElement>;
  labelledBy: string;
  options: readonly Option<T>[];
  value: T;
  onChange: (value: T) => void;
  disabled?: boolean;
};

export function RadioCards<T extends string>({
  ref,
  labelledBy,
  options,
  value,
  onChange,
  disabled = false,
}: CardsProps<T>) {
  const styles = radioCards();
  return (
    <TextDirection>
      <RadioGroup.Root
        ref={ref}
        className={styles.root}
        aria-labelledby={labelledBy}
        value={value}
        disabled={disabled}
        onValueChange={(change) => onChange(change.value as T)}
      >
        {options.map((option) => (
          <RadioGroup.Item
            key={option.value}
            value={option.value}
            className={styles.item}
          >
            <RadioGroup.ItemControl className={styles.control} />
            <RadioGroup.ItemText className={styles.text}>{option.label}</RadioGroup.ItemText>
            <RadioGroup.ItemHiddenInput />
          </RadioGroup.Item>
        ))}
      </RadioGroup.Root>
    </TextDirection>
  );
}
