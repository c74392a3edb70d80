import { useQueryClient } from '@tanstack/react-query';
import type { Platform } from '#contract/shapes';
import { useState } from 'react';
import { button } from '#styled/recipes';
import { RadioCards } from '../ui/radio-cards.tsx';
import { platformWords } from '../words/account.ts';
import { updatePlatform } from './update-platform.ts';

const options = (['whatsapp', 'web'] as const).map((value) => ({ value, label: platformWords.options[value].text }));

/** The choice between the platforms; a button appears once it differs from what is stored. */
export default function PlatformChoice({ current }: { current: Platform }) {
  const [chosen, setChosen] = useState<Platform>(current);
  const [isBusy, setBusy] = useState(false);
  const client = useQueryClient();

  const update = async () => {
    if (isBusy || chosen === current) return;
    setBusy(true);
    const stored = await updatePlatform(chosen);
    setBusy(false);
    if (stored) client.setQueryData(['platform'], { success: true, platform: stored });
  };

  return (
    <>
      <RadioCards labelledBy="platform" options={options} value={chosen} onChange={setChosen} disabled={isBusy} />
      {chosen !== current && (
        <button type="button" className={button({ wide: true })} aria-busy={isBusy} onClick={() => void update()}>
          {isBusy ? platformWords.updating : platformWords.update}
        </button>
      )}
    </>
  );
}
