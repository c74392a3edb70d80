import { useEffect, useState } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { noticeOfferWords } from '#words/notices';
import { readNotices, turnOnNotices, type NoticeState } from '../../data/push-subscription.ts';
import { storage } from '../../data/store.ts';

/** Offered once a browser, whatever the choice. */
const key = 'noticesOffered';

/** After a reply that came late. */
export default function NoticeOffer({ token }: { token: string }) {
  const [state, setState] = useState<NoticeState | 'failed' | 'closed'>('unavailable');

  useEffect(() => {
    const show = (read: NoticeState) => {
      if (read === 'off' || read === 'install') storage.write(key, 'yes');
      setState(read);
    };
    if (storage.read(key) === null) readNotices(token).then(show, () => null);
  }, [token]);

  const accept = () =>
    void turnOnNotices(token).then(
      (turned) => setState(turned === 'off' ? 'closed' : turned),
      () => setState('failed'),
    );
  const close = () => setState('closed');

  const text = texts[state];
  if (text === undefined) return null;

  return (
    <section
      className={panel}
      aria-label={noticeOfferWords.title}
    >
      <p
        className={css({ flex: '[1 1 14rem]', textStyle: 'small' })}
        aria-live="polite"
      >
        {text}
      </p>
      <div className={css({ display: 'flex', gap: '2' })}>
        {(state === 'off' || state === 'failed') && (
          <button
            type="button"
            className={button()}
            onClick={accept}
          >
            {noticeOfferWords.accept}
          </button>
        )}
        <button
          type="button"
          className={button({ look: 'outline' })}
          onClick={close}
        >
          {state === 'off' || state === 'failed' ? noticeOfferWords.refuse : noticeOfferWords.close}
        </button>
      </div>
    </section>
  );
}

const texts: Partial<Record<NoticeState | 'failed' | 'closed', string>> = {
  off: noticeOfferWords.offer,
  on: noticeOfferWords.accepted,
  denied: noticeOfferWords.denied,
  install: noticeOfferWords.install,
  failed: noticeOfferWords.failed,
};

const panel = css({
  display: 'flex',
  flexWrap: 'wrap',
  alignItems: 'center',
  gap: '2',
  padding: '3',
  borderRadius: 'lg',
  backgroundColor: 'primarySoft',
});
