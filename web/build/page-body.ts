import { footerWords } from '../words/layout.ts';
import { pageHead } from '../words/page-heads.ts';
import type { Render } from './load-render.ts';
import { sampleChat } from './sample-chat.ts';

const needsScript = 'Please turn on JavaScript to log in and to manage your account.';

const withoutScript = `<div class="page"><p>${needsScript}</p><p><a class="link" href="/help-now">${footerWords.help}</a></p></div>`;
// The root fills the screen, so the text for visitors without JavaScript precedes it.
const noScript = `<noscript>${withoutScript}</noscript>`;

/** The body of a page that is rendered in the browser. */
export const emptyBody = `${noScript}\n    <div id="root"></div>`;

/** Whether the served HTML of a path can be read without scripts. */
export function isReadable(path: string): boolean {
  const { prerendering } = pageHead(path);
  return prerendering === 'page' || prerendering === 'guest-page';
}

/** The body of a page. */
export async function pageBody(path: string, render: Render): Promise<string> {
  const { prerendering } = pageHead(path);
  if (prerendering === 'none') return emptyBody;
  const { routeId, markup } = await render(path);
  const root = `<div id="root" data-prerendered="${prerendering}" data-route="${routeId}">${markup}</div>`;
  if (isReadable(path)) return root;
  return [noScript, root, ...(path === '/chat' ? [await filledFrame(path, render)] : [])].join('\n    ');
}

/** The main part of the chat with a conversation, in which `fill-chat.tsx` puts the messages of the user. */
async function filledFrame(path: string, render: Render): Promise<string> {
  const { markup } = await render(path, sampleChat);
  const main = /<main\b[^>]*>([\s\S]*)<\/main>/.exec(markup)?.[1];
  if (main === undefined) throw new Error(`${path} has no main part`);
  return `<template id="filled">${main}</template>`;
}
