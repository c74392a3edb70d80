import { useEffect, useSyncExternalStore, type Ref } from 'react';
import { planOf } from '#contract/plans';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { errorWords } from '#words/page-errors';
import { voiceWords } from '#words/voice';
import { useSession } from '../../data/session.ts';
import { noRecording, voiceStore } from '../../data/voice-store.ts';
import { loadInTime } from '../../data/promise-limit.ts';
import { visuallyHidden } from '../../ui/visually-hidden.ts';
import { Icon } from '../../ui/icons.tsx';
import { RefreshPage } from '../../ui/refresh-page.tsx';
import { voiceNotInPlan, type SendError } from './send-error.tsx';

export const loadPanel = () => import('./voice-panel.tsx');
const loadVoice = () => loadInTime(import('../../data/voice-draft.ts'));

async function record(token: string): Promise<void> {
  const file = await loadVoice().catch(() => null);
  if (file) return file.voiceDraft.start(token, loadPanel);
  voiceStore.set({ ...noRecording, token, problem: errorWords.network });
}

type Props = {
  ref: Ref<HTMLButtonElement>;
  token: string;
  showError: (error: SendError | null) => void;
};

/** Without voice in the plan it leads to the plans. */
export function RecordButton({ ref, token, showError }: Props) {
  const tier = useSession(({ user }) => user?.metadata.subscriptionTier ?? null);
  const { problem, question, isAsking } = useSyncExternalStore(
    voiceStore.subscribe,
    voiceStore.get,
    voiceStore.get,
  );

  // Browsers ask for the microphone right after a click alone.
  useEffect(() => {
    loadVoice().then(
      ({ voiceDraft }) => voiceDraft.restore(token),
      () => null,
    );
  }, [token]);

  const start = () => {
    showError(null);
    if (planOf(tier).hasVoice) void record(token);
    else showError({ ...voiceNotInPlan, isInformation: true });
  };

  return (
    <>
      <button
        ref={ref}
        type="button"
        className={`${button({ look: 'soft', size: 'icon' })} ${besideField}`}
        aria-label={voiceWords.record}
        aria-disabled={isAsking}
        onClick={start}
      >
        <Icon name="voice" />
      </button>
      <output
        className={problem || question ? notice : visuallyHidden}
        data-look={problem ? 'problem' : undefined}
      >
        {problem ?? question} {problem === errorWords.network && <RefreshPage />}
      </output>
    </>
  );
}

const notice = css({
  order: '[-1]',
  flexBasis: '[100%]',
  textStyle: 'small',
  color: 'muted',
  '&[data-look=problem]': { color: 'danger' },
});
/** As high as the field with one line. */
export const besideField = css({ minHeight: '[3.325rem]' });
