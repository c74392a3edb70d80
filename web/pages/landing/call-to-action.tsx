import { chatLink } from '#contract/brand';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { ExternalLink } from '../../ui/external-link.tsx';
import { landingWords } from '../../words/landing.ts';

/** The last section, over the illustration in evening colours. */
export function CallToAction() {
  return (
    <section className={band} aria-labelledby="call-to-action">
      <svg className={hills} viewBox="0 0 1440 220" preserveAspectRatio="none" aria-hidden="true">
        <path
          className={css({ fill: 'scene.far' })}
          d="M0 96c190-82 372-92 560-26 200 70 330 66 500-4 150-62 262-54 380-8v162H0Z"
        />
        <path className={css({ fill: 'scene.middle' })} d="M0 150c260-70 420-28 640-4 260 28 400-84 800-24v98H0Z" />
        <path className={css({ fill: 'scene.near' })} d="M0 190c330-60 560-30 800-14 250 16 420-22 640-40v84H0Z" />
      </svg>
      <div
        className={css({
          position: 'relative',
          display: 'grid',
          justifyItems: 'center',
          gap: '5',
          textAlign: 'center',
          paddingInline: 'gutter',
        })}
      >
        <h2 id="call-to-action" className={css({ textStyle: 'title' })}>
          {landingWords.callToActionTitle}
        </h2>
        <p className={css({ textStyle: 'lead', color: 'muted' })}>{landingWords.callToActionText}</p>
        <ExternalLink href={chatLink()} className={button({ size: 'lg' })}>
          {landingWords.callToActionLink}
        </ExternalLink>
      </div>
    </section>
  );
}

const band = css({
  position: 'relative',
  paddingTop: 'section',
  paddingBottom: '[clamp(10rem, 24vw, 17rem)]',
  backgroundColor: 'scene.sky',
  overflow: 'hidden',
});
const hills = css({
  position: 'absolute',
  insetInline: '0',
  bottom: '0',
  width: 'full',
  height: '[clamp(8rem, 20vw, 14rem)]',
});
