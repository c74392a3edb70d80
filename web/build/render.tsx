import { RouterProvider, createMemoryHistory, type RegisteredRouter } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { renderToStaticMarkup, renderToString } from 'react-dom/server';
import { basePath, isRightToLeft, locale } from '#words/language';
import { footerWords, layoutWords } from '#words/layout';
import { link, page } from '#styled/recipes';
import { NotFound } from '../app/error-screens.tsx';
import { OfflinePage } from '../app/offline-page.tsx';
import { pageHead, type ServedKind } from '../app/page-heads.ts';
import {
  markAttributes,
  offerClass,
  offlinePath,
  rootId,
  type TemplateId,
} from '../start/protocol.ts';
import { session } from '../data/session.ts';
import { renderFrame } from '../start/chat/frame.tsx';
import { createAppRouter, routeIdOf } from '../router.tsx';
import { documentOf, type AppParts, type DocumentParts } from './document.tsx';

export type LanguageOffer = Record<'tag' | 'href' | 'name' | 'text' | 'dismiss', string>;

export type PageParts = Pick<DocumentParts, 'headScripts' | 'styles' | 'lastScript' | 'fonts'> & {
  app: Pick<AppParts, 'entry' | 'modules'>;
  offers: readonly LanguageOffer[];
};

export async function renderPage(path: string, parts: PageParts): Promise<string> {
  const { app, offers, fonts = [], ...others } = parts;
  const { served, isPublic } = pageHead(path);
  const isReadable = served === 'page' || served === 'guest-page';
  const content = await contentOf(path, served);
  return documentOf({
    ...others,
    path,
    language: { tag: locale, direction: isRightToLeft ? 'rtl' : 'ltr' },
    // Fonts must not delay a private page's scripts.
    fonts: isReadable ? fonts : [],
    app: path === offlinePath ? undefined : { ...app, ...startOf(path) },
    body: renderToStaticMarkup(isPublic && offers.map(offerOf)) + content,
  });
}

/** Says how the app starts. The account's files wait for no paint, since its shell shows no data before the app. */
function startOf(path: string): Pick<AppParts, 'isLate' | 'isHeld'> {
  const { served } = pageHead(path);
  return {
    isLate: served !== 'none' && path !== '/account',
    isHeld: served === 'shell',
  };
}

/** Renders the root, and beside it what a browser without scripts shows. */
async function contentOf(path: string, served: ServedKind): Promise<string> {
  const noScript = renderToStaticMarkup(<NoScript />);
  if (served === 'none') return noScript + renderToStaticMarkup(<div id={rootId} />);
  const router = await routerAt(path);
  const root = renderToStaticMarkup(
    <div
      id={rootId}
      {...markAttributes({ served, route: routeIdOf(router) })}
      dangerouslySetInnerHTML={{ __html: markupOf(router) }}
    />,
  );
  if (served !== 'shell') return root;
  return noScript + root + (path === '/chat' ? await chatFrame(path) : '');
}

async function routerAt(path: string): Promise<RegisteredRouter> {
  if (session.get().isInitializing) session.endInitialization();
  const router = createAppRouter({
    history: createMemoryHistory({ initialEntries: [basePath + path] }),
    notFound: path === offlinePath ? OfflinePage : NotFound,
  });
  await router.load();
  return router;
}

const markupOf = (router: RegisteredRouter): string =>
  renderToString(
    <StrictMode>
      <RouterProvider router={router} />
    </StrictMode>,
  );

const frameId: TemplateId = 'frame';

/** Renders the frame into which `start/chat/` puts the messages. */
async function chatFrame(path: string): Promise<string> {
  const frame = renderFrame(await routerAt(path), markupOf);
  return renderToStaticMarkup(
    <template
      id={frameId}
      dangerouslySetInnerHTML={{ __html: frame }}
    />,
  );
}

const NoScript = () => (
  <noscript>
    <div className={page()}>
      <p>{layoutWords.needsScriptForAccount}</p>
      <p>
        <a
          className={link()}
          href={`${basePath}/help-now`}
        >
          {footerWords.help}
        </a>
      </p>
    </div>
  </noscript>
);

const offerOf = ({ tag, href, name, text, dismiss }: LanguageOffer) => (
  <aside
    key={tag}
    className={offerClass}
    lang={tag}
  >
    {`${text} `}
    <a
      href={href}
      hrefLang={tag}
    >
      {name}
    </a>
    <button
      type="button"
      aria-label={dismiss}
    >
      ×
    </button>
  </aside>
);
