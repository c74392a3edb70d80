import { useEffect, useState } from 'react';
import { button } from '#styled/recipes';
import { noticeSettingWords } from '#words/notices';
import {
  followPermission,
  readNotices,
  turnOffNotices,
  turnOnNotices,
  type NoticeState,
} from '../../data/push-subscription.ts';
import { useAction } from '../../data/use-action.ts';
import { AccountAction } from './account-layout.tsx';

/** Shows nothing in browsers without notices. */
export function NoticeSetting({ token }: { token: string }) {
  const [state, setState] = useState<NoticeState>('unavailable');
  const [isBusy, run] = useAction();
  useEffect(() => {
    const read = () => void readNotices(token).then(setState, () => null);
    read();
    return followPermission(read);
  }, [token]);
  if (state === 'unavailable') return null;

  const isOn = state === 'on';
  const change = async () => setState(await (isOn ? turnOffNotices : turnOnNotices)(token));
  return (
    <AccountAction
      hint={hints[state]}
      id="notices"
    >
      {(isOn || state === 'off') && (
        <button
          type="button"
          className={button({ look: 'soft', wide: true })}
          aria-describedby="notices-hint"
          disabled={isBusy}
          onClick={() => run(change, failed)}
        >
          {isOn ? noticeSettingWords.turnOff : noticeSettingWords.turnOn}
        </button>
      )}
    </AccountAction>
  );
}

const failed = { title: noticeSettingWords.failed, fallback: noticeSettingWords.failedText };

const hints: Record<Exclude<NoticeState, 'unavailable'>, string> = {
  on: noticeSettingWords.on,
  off: noticeSettingWords.off,
  denied: noticeSettingWords.denied,
  install: noticeSettingWords.install,
};
