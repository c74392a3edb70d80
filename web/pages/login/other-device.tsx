import { useId, useRef } from 'react';
import { encode } from 'uqr';
import { css } from '#styled/css';
import { brand, chatLink } from '#contract/brand';
import { contactWayWords } from '#words/contact-way';
import { formatPhone } from '../../rules/phone-text.ts';
import { CopyButton } from '../../ui/copy-button.tsx';

const number = `+${brand.chatNumber}`;

export default function OtherDevice({ text }: { text: string }) {
  const titleId = useId();
  return (
    <section
      aria-labelledby={titleId}
      className={box}
    >
      <h2
        id={titleId}
        className={css({ fontWeight: 'semibold' })}
      >
        {contactWayWords.title}
      </h2>
      <Copyable
        label={contactWayWords.number}
        shown={formatPhone(number)}
        copied={number}
        copyLabel={contactWayWords.copyNumber}
      />
      <Copyable
        label={contactWayWords.text}
        shown={text}
        copied={text}
        copyLabel={contactWayWords.copyText}
      />
      <p className={css({ textStyle: 'small' })}>{contactWayWords.scan}</p>
      <QrCode
        link={chatLink(text)}
        label={contactWayWords.qr({ number: formatPhone(number), text })}
      />
    </section>
  );
}

type CopyableProps = Record<'label' | 'shown' | 'copied' | 'copyLabel', string>;

function Copyable({ label, shown, copied, copyLabel }: CopyableProps) {
  const value = useRef<HTMLElement>(null);
  return (
    <div className={css({ display: 'grid', gap: '2' })}>
      <p className={css({ textStyle: 'small', color: 'muted' })}>{label}</p>
      <strong
        ref={value}
        className={css({ overflowWrap: 'anywhere', userSelect: 'all' })}
      >
        {shown}
      </strong>
      <CopyButton
        of={value}
        text={copied}
        label={copyLabel}
      />
    </div>
  );
}

/** Many scanners need dark on light, with four modules of margin. */
function QrCode({ link, label }: { link: string; label: string }) {
  const { data, size } = encode(link, { ecc: 'L', border: 4 });
  const path = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return (
    <svg
      // oxlint-disable-next-line prefer-tag-over-role -- the content policy allows no image of a data: address.
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      className={qrCode}
    >
      <rect
        width={size}
        height={size}
        fill="#fff"
      />
      <path
        d={path.join('')}
        fill="#000"
        shapeRendering="crispEdges"
      />
    </svg>
  );
}

const box = css({
  display: 'grid',
  gap: '4',
  padding: '4',
  borderRadius: 'md',
  borderWidth: 'thin',
  borderColor: 'line',
});
const qrCode = css({
  width: '[14rem]',
  maxWidth: 'full',
  justifySelf: 'center',
});
