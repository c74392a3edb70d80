import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { basePath } from '#words/language';
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
  /** It finds the whole page. */
  lastScript?: string;
};

export type AppParts = {
  entry: string;
  modules: readonly string[];
  isStartedByShell: boolean;
  /** Holds the start back; too old an engine renames it, so nothing starts. */
  heldIn: 'after-paint' | 'at-start' | null;
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

function App({ entry, modules, isStartedByShell, heldIn }: AppParts) {
  const files = modules.map((file) => (
    <link
      key={file}
      rel="modulepreload"
      href={file}
    />
  ));
  const start = isStartedByShell ? (
    <link
      rel="modulepreload"
      id="app"
      href={entry}
    />
  ) : (
    <script
      type="module"
      src={entry}
    />
  );
  const all = (
    <>
      {files}
      {start}
    </>
  );
  if (heldIn === null) return all;
  // `head-script.ts` inserts what a template holds.
  if (heldIn === 'after-paint') return <Template id="after-paint">{all}</Template>;

  return (
    <>
      {files}
      <link
        rel="modulepreload"
        href={entry}
      />
      <Template id="at-start">{start}</Template>
    </>
  );
}

/** React would hoist its links into the head. */
const Template = ({ id, children }: { id: string; children: ReactNode }) => (
  <template
    id={id}
    dangerouslySetInnerHTML={{ __html: renderToStaticMarkup(<>{children}</>) }}
  />
);

/** No proxy may rewrite addresses: React expects the served ones. */
function Body({ body, lastScript }: Pick<DocumentParts, 'body' | 'lastScript'>) {
  const last = lastScript && <script dangerouslySetInnerHTML={{ __html: lastScript }} />;
  const html = `<!--email_off-->${body}<!--/email_off-->${renderToStaticMarkup(last)}`;
  return <body dangerouslySetInnerHTML={{ __html: html }} />;
}
