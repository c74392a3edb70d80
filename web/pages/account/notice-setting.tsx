import { useEffect, useState } from 'react';
import { button } from '#styled/recipes';
import { noticeSettingWords } from '#words/notices';
import { notifyError } from '../../data/error-toasts.ts';
import {
  followPermission,
  readNotices,
  turnOffNotices,
  turnOnNotices,
  type NoticeState,
} from '../../data/push-subscription.ts';
import { Action } from './account-layout.tsx';

/** Shows nothing in browsers without notices. */
export function NoticeSetting({ token }: { token: string }) {
  const [state, setState] = useState<NoticeState>('unavailable');
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    const read = () => void readNotices(token).then(setState, () => null);
    read();
    return followPermission(read);
  }, [token]);
  const change = async (run: (token: string) => Promise<NoticeState>) => {
    setBusy(true);
    try {
      setState(await run(token));
    } catch (error) {
      notifyError(error, {
        title: noticeSettingWords.failed,
        fallback: noticeSettingWords.failedText,
      });
    }
    setBusy(false);
  };
  if (state === 'unavailable') return null;
  const isOn = state === 'on';
  return (
    <Action
      hint={hints[state]}
      id="notices"
    >
      {(isOn || state === 'off') && (
        <button
          type="button"
          className={button({ look: 'soft', wide: true })}
          aria-describedby="notices-hint"
          disabled={isBusy}
          onClick={() => void change(isOn ? turnOffNotices : turnOnNotices)}
        >
          {isOn ? noticeSettingWords.turnOff : noticeSettingWords.turnOn}
        </button>
      )}
    </Action>
  );
}

const hints: Record<Exclude<NoticeState, 'unavailable'>, string> = {
  on: noticeSettingWords.on,
  off: noticeSettingWords.off,
  denied: noticeSettingWords.denied,
  install: noticeSettingWords.install,
};
