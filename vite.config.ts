import { join } from 'node:path';
import { tanstackRouter } from '@tanstack/router-plugin/vite';
import react from '@vitejs/plugin-react';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import {
  defaultClientConditions,
  defaultServerConditions,
  defineConfig,
  type PluginOption,
} from 'vite';
import { liveComponents } from './web/build/live-components.ts';
import { livePages } from './web/build/live-pages.ts';
import { liveStyles } from './web/build/live-styles.ts';
import { withdrawalDays } from './web/build/words/withdrawal-days.ts';
import { liveWords } from './web/build/words/live-words.ts';
import { wordsConditions } from './web/build/words/texts.ts';
import { writePages } from './web/build/write-pages.ts';
import { inlineStyles } from './web/build/inline-styles.ts';
import { oldestEngines } from './web/build/oldest-engines.ts';

const web = join(import.meta.dirname, 'web');
const headScript = join(web, 'start/head-script.ts');
const [folder = 'en'] = wordsConditions;
const isEnglish = folder === 'en';
const prerender = join(import.meta.dirname, 'dist/prerender', folder);
const site = join(import.meta.dirname, 'dist/web');
// The scripts of a language are in a folder of this build, for which one caching rule is enough.
const scriptFolder = `assets/${folder}-${buildId()}`;
// They are the same in every language, and in most builds.
const shared = new Set(['vendor', 'rolldown-runtime']);
// The folder names the build, so a hash of each file says nothing more, and each page names a dozen files.
const scriptNames = ({ name }: { name: string }) =>
  shared.has(name) ? 'assets/[name]-[hash].js' : `${scriptFolder}/${unsuspicious(name)}.js`;
/** Words for which content blockers refuse a script. */
const suspicious =
  /\bads?\b|advert|analytic|banner|beacon|consent|cookie|metric|notif|pixel|popup|push|share|social|\bstats?\b|track/;
/** The name of a script, or a number in its place. */
function unsuspicious(name: string): string {
  if (!suspicious.test(name)) return name;
  return String(createHash('sha256').update(name).digest().readUInt32BE());
}
// The styles are those of the English build: making them takes 2.5 s, and loading Panda 0.5 s (2026-11-23).
const stylePlugins = isEnglish ? [await panda()] : [];

// One chunk that changes only with the libraries; many small ones would also compress worse.
const vendor = {
  name: 'vendor',
  priority: 1,
  test: /node_modules\/(react|react-dom|scheduler|@tanstack\/(react-router|router-core|history|react-store|store))\//,
};

// Where it is turned off, none of its words are served.
const leftOut = {
  find: /^.*\/pages\/withdraw\/withdraw-page\.tsx$/,
  replacement: join(web, 'pages/withdraw/withdraw-page-off.ts'),
};

// What every page needs is one chunk: its parts would be requests of their own because other chunks import them too.
const main = { name: 'main', tags: ['$initial' as const], test: /\.[jt]sx?(\?|$)/ };

// What most pages need together: small chunks compress worse, and each costs a line of every page.
const together = [
  { name: 'texts', test: /(\/rules\/plan-texts|\/compiled\/[\w-]+\/(intl|plan-texts[.\w]*))\.ts$/ },
  { name: 'frames', test: /\/(rules\/formats\.ts|ui\/card\.tsx)$/ },
  {
    name: 'calls',
    test: /\/data\/(api-client|api-transport|api-error|error-handling|error-toasts|expiry|shown-notices|use-action)\.ts$/,
  },
  {
    name: 'parts',
    test: /(\/ui\/(alert|external-link|visually-hidden)\.tsx?|\/(contract\/visible-text|rules\/spent-allowance)\.ts)$/,
  },
];

export default defineConfig({
  root: web,
  resolve: { alias: withdrawalDays === 0 ? [leftOut] : [] },
  environments: {
    client: {
      resolve: { conditions: [...wordsConditions, ...defaultClientConditions] },
      build: {
        outDir: '../dist/web',
        emptyOutDir: isEnglish,
        copyPublicDir: isEnglish,
        // Licences ask for their text beside each copy, and minifying removes it from the scripts.
        license: { fileName: 'third-party-licences.txt' },
        rolldownOptions: {
          input: { index: join(web, 'main.tsx'), styles: join(web, 'theme/index.css') },
          output: {
            codeSplitting: { groups: [vendor, main, ...together] },
            entryFileNames: scriptNames,
            chunkFileNames: scriptNames,
          },
        },
      },
    },
    ssr: {
      resolve: { conditions: [...wordsConditions, ...defaultServerConditions] },
      build: {
        outDir: prerender,
        copyPublicDir: false,
        // It renders every page, so that it has no use for what a page loads later.
        rolldownOptions: {
          input: join(web, 'build/render.tsx'),
          checks: { ineffectiveDynamicImport: false },
        },
      },
    },
  },
  builder: {
    // The pages of the site are rendered by what is built for the server.
    async buildApp(builder) {
      const { ssr, client } = builder.environments;
      if (ssr) await builder.build(ssr);
      if (client) await builder.build(client);
    },
  },
  build: {
    emptyOutDir: true,
    target: oldestEngines,
    cssTarget: oldestEngines,
    // An inlined asset would be a data: address, which the Content-Security-Policy of fonts and images refuses.
    assetsInlineLimit: 0,
    // The tests weigh what is built.
    reportCompressedSize: false,
    // Every browser that the site supports preloads modules by itself.
    modulePreload: { polyfill: false },
  },
  css: { postcss: { plugins: stylePlugins } },
  plugins: [
    ...routerPlugins(),
    react(),
    inlineStyles(join(web, 'styled-system')),
    liveComponents(),
    liveStyles(),
    liveWords(),
    livePages(outsideOrigins(), headScript),
    writePages({
      connectTo: outsideOrigins(),
      rendererFolder: prerender,
      scriptFolder,
      siteFolder: site,
      styles: { file: join(web, '../dist/prerender/styles.css'), isBuiltHere: isEnglish },
      scripts: {
        head: headScript,
        pageScripts: {
          '/account': join(web, 'start/hold-account.ts'),
          '/chat': join(web, 'start/chat/fill-chat.tsx'),
          '/offline': join(web, 'start/leave-offline.ts'),
        },
      },
      scriptPlugins: [inlineStyles(join(web, 'styled-system'))],
    }),
  ],
});

/** Only the browser loads the parts of the site one by one: splitting what renders the pages takes 0.2 s in each language. */
function routerPlugins(): PluginOption[] {
  const plugins = tanstackRouter({
    target: 'react',
    autoCodeSplitting: true,
    routesDirectory: join(web, 'routes'),
    generatedRouteTree: join(web, 'routeTree.gen.ts'),
    quoteStyle: 'single',
    semicolons: true,
    addExtensions: true,
    // Nobody reads it, and loading Prettier takes 0.3 s in each language (2026-11-23).
    enableRouteTreeFormatting: false,
  });
  return [plugins]
    .flat()
    .map((plugin) =>
      plugin.name.includes('code-splitter')
        ? { ...plugin, applyToEnvironment: ({ name }) => name === 'client' }
        : plugin,
    );
}

/** Panda and Vite each bring a PostCSS of their own, whose types differ in name only. */
async function panda(): Promise<never> {
  const { default: plugin } = await import('@pandacss/dev/postcss');
  return plugin({ configPath: join(web, 'build/panda.config.ts'), cwd: web }) as never;
}

/** The origins other than its own that the site calls, if the build was given any. */
function outsideOrigins(): string[] {
  const addresses = [process.env['VITE_API_BASE'], process.env['VITE_CONTACT_URL']].filter(
    (address) => address !== undefined,
  );
  return [...new Set(addresses.filter(Boolean).map((address) => new URL(address).origin))];
}

/** Changes with every file and setting of which the site is made. */
function buildId(): string {
  const files = globSync([
    'web/{app,build,data,pages,routes,rules,start,theme,ui,words}/**/*.*',
    'vite.config.ts',
    'worker/contract/*',
    'package-lock.json',
  ]);
  const settings = Object.entries(process.env)
    .filter(([name]) => name.startsWith('VITE_'))
    .map(([name, value]) => `${name}=${value}`);
  const hash = createHash('sha256').update(settings.toSorted().join('\n'));
  for (const file of files.toSorted()) hash.update(file).update(readFileSync(file));
  return hash.digest('hex').slice(0, 8);
}
