import { brand } from '#contract/brand';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { withdrawWords } from '#words/withdraw';

const { model, subject } = withdrawWords;
const mail = `mailto:${brand.supportEmail}?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(model.join('\r\n\r\n'))}`;

/** The model text of the law, which works without this page. */
export function ByPost() {
  return (
    <section
      className={letter}
      aria-labelledby="by-post"
    >
      <h2
        id="by-post"
        className={css({ textStyle: 'subheading' })}
      >
        {withdrawWords.byPost}
      </h2>
      <p>{withdrawWords.byPostText}</p>
      <blockquote className={paper}>
        {model.map((line) => (
          <p key={line}>{line}</p>
        ))}
      </blockquote>
      <a
        href={mail}
        className={button({ look: 'outline', wide: true })}
      >
        {withdrawWords.write}
      </a>
    </section>
  );
}

const letter = css({ display: 'grid', gridTemplateColumns: '[minmax(0, 1fr)]', gap: '4' });
const paper = css({
  display: 'grid',
  gap: '3',
  padding: '5',
  borderRadius: 'md',
  borderWidth: 'thin',
  borderColor: 'line',
  backgroundColor: 'raised',
  overflowWrap: 'anywhere',
});
