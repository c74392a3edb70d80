import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Platform } from '#contract/schemas';
import { useState } from 'react';
import { button } from '#styled/recipes';
import { RadioCards } from '../../ui/radio-cards.tsx';
import { platformWords } from '../../words/account.ts';
import { updatePlatform } from './update-platform.ts';

const options = (['whatsapp', 'web'] as const).map((value) => ({ value, label: platformWords.options[value] }));

type Props = { current: Platform; queryKey: readonly unknown[] };

/** The choice between the platforms. A button appears once it differs from the stored one. */
export default function PlatformChoice({ current, queryKey }: Props) {
  const [chosen, setChosen] = useState<Platform>(current);
  const [isBusy, setBusy] = useState(false);
  const client = useQueryClient();

  const update = async () => {
    if (isBusy || chosen === current) return;
    setBusy(true);
    const stored = await updatePlatform(chosen);
    setBusy(false);
    if (stored) client.setQueryData(queryKey, { success: true, platform: stored });
  };

  return (
    <>
      <RadioCards labelledBy="platform" options={options} value={chosen} onChange={setChosen} disabled={isBusy} />
      {current === 'web' && chosen === 'web' && (
        <Link to="/chat" className={button({ look: 'soft', wide: true })}>
          {platformWords.openChat}
        </Link>
      )}
      {chosen !== current && (
        <button type="button" className={button({ wide: true })} aria-busy={isBusy} onClick={() => void update()}>
          {isBusy ? platformWords.updating : platformWords.update}
        </button>
      )}
    </>
  );
}
