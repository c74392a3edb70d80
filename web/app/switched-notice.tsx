import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { session, useSession } from '../data/session.ts';
import { Unbroken } from '../ui/text.tsx';
import { usePhoneText } from '../data/phone-plans.ts';
import { Alert } from '../ui/alert.tsx';
import { layoutWords } from '#words/layout';

export default function SwitchedNotice() {
  const phone = useSession(({ user }) => user?.phoneNumber ?? null);
  const phoneText = usePhoneText(phone);
  return (
    <output className={noticeBox}>
      {phone && (
        <Alert look="warm">
          <Unbroken text={layoutWords.switchedAccount(phoneText)} />{' '}
          <button
            type="button"
            className={button({ look: 'quiet' })}
            onClick={() => session.markSwitched(null)}
          >
            {layoutWords.dismiss}
          </button>
        </Alert>
      )}
    </output>
  );
}

const noticeBox = css({
  display: 'block',
  width: 'full',
  maxWidth: 'page',
  marginInline: 'auto',
  paddingInline: 'gutter',
  paddingBlock: '3',
});
