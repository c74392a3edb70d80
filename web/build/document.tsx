import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { basePath } from '#words/language';
import { appId, type TemplateId } from '../start/protocol.ts';
import { HeadTags } from './head-tags.tsx';

export type DocumentParts = {
  /** Without the start of a language. */
  path: string;
  language: { tag: string; direction: 'ltr' | 'rtl' };
  /** Preloaded on all but slow connections. */
  fonts?: readonly string[];
  headScripts: readonly string[];
  styles: { text: string } | { href: string };
  app?: AppParts | undefined;
  /** HTML. */
  body: string;
  /** Runs when the whole page is there. */
  lastScript?: string;
};

export type AppParts = {
  entry: string;
  modules: readonly string[];
  /** Whether its files load after the paint. */
  isLate: boolean;
  /** Whether a script of the shell releases it. */
  isHeld: boolean;
};

export const documentOf = (parts: DocumentParts): string =>
  `<!doctype html>${renderToStaticMarkup(<Document {...parts} />)}`;

function Document({
  path,
  language,
  fonts = [],
  headScripts,
  styles,
  app,
  ...rest
}: DocumentParts) {
  const { tag, direction } = language;
  return (
    <html
      lang={tag}
      dir={direction === 'rtl' ? 'rtl' : undefined}
    >
      <head>
        <meta charSet="utf-8" />
        <meta
          name="viewport"
          content="width=device-width, initial-scale=1"
        />
        <meta
          name="format-detection"
          content="telephone=no,date=no,address=no,email=no"
        />
        <HeadTags path={path} />
        <link
          rel="icon"
          href="/icon.svg"
          type="image/svg+xml"
        />
        <link
          rel="apple-touch-icon"
          href="/apple-touch-icon.png"
        />
        <link
          rel="manifest"
          href={`${basePath}/manifest.webmanifest`}
        />
        {fonts.length > 0 && <Fonts files={fonts} />}
        {headScripts.map((code) => (
          <script
            key={code}
            dangerouslySetInnerHTML={{ __html: code }}
          />
        ))}
        {'text' in styles ? (
          <style dangerouslySetInnerHTML={{ __html: styles.text }} />
        ) : (
          <link
            rel="stylesheet"
            href={styles.href}
          />
        )}
        {app && <App {...app} />}
      </head>
      <Body {...rest} />
    </html>
  );
}

const Fonts = ({ files }: { files: readonly string[] }) => (
  <Template id="fonts">
    {files.map((file) => (
      <link
        key={file}
        rel="preload"
        as="font"
        type="font/woff2"
        crossOrigin=""
        href={file}
      />
    ))}
  </Template>
);

function App({ entry, modules, isLate, isHeld }: AppParts) {
  const files = (
    <>
      {modules.map((file) => (
        <link
          key={file}
          rel="modulepreload"
          href={file}
        />
      ))}
      {isHeld ? (
        <link
          rel="modulepreload"
          id={appId}
          href={entry}
        />
      ) : (
        <script
          type="module"
          src={entry}
        />
      )}
    </>
  );
  return isLate ? <Template id="late">{files}</Template> : files;
}

type TemplateProps = { id: TemplateId; children: ReactNode };

/** Holds its content as text, since React would hoist links into the head. */
const Template = ({ id, children }: TemplateProps) => (
  <template
    id={id}
    dangerouslySetInnerHTML={{ __html: renderToStaticMarkup(<>{children}</>) }}
  />
);

/** Tells proxies to leave e-mail addresses as they are: React expects the served ones. */
function Body({ body, lastScript }: Pick<DocumentParts, 'body' | 'lastScript'>) {
  const last = lastScript && <script dangerouslySetInnerHTML={{ __html: lastScript }} />;
  const html = `<!--email_off-->${body}<!--/email_off-->${renderToStaticMarkup(last)}`;
  return <body dangerouslySetInnerHTML={{ __html: html }} />;
}
