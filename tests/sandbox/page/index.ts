import { readFileSync } from 'node:fs';
import { Hono } from 'hono';
import { html } from 'hono/html';

export type PageSettings = {
  siteUrl: string;
  /** The result of a control call of the sandbox, or null. */
  ask: (path: string) => Promise<unknown>;
};

const types = { js: 'text/javascript', css: 'text/css' } as const;

/** The page of the local services: a phone, the bot's events, Stripe's objects, and the faults. */
export function createPage({ siteUrl, ask }: PageSettings): Hono {
  const app = new Hono();
  app.get('/', (c) => c.html(renderPage(siteUrl)));
  app.get('/page/client/:file{[a-z-]+\\.(?:js|css)}', (c) => {
    const file = c.req.param('file');
    const extension = file.endsWith('.js') ? 'js' : 'css';
    return c.body(readFileSync(new URL(`client/${file}`, import.meta.url)), 200, {
      'content-type': `${types[extension]}; charset=utf-8`,
      'cache-control': 'no-cache',
    });
  });
  app.get('/page/state', async (c) => {
    const phone = `/${encodeURIComponent(c.req.query('phone') ?? '')}`;
    const [phones, messages, events, faults, stats, clock, billing, chat, replies, mode] = await Promise.all([
      ask('/phones'),
      ask(`/phones${phone}/messages`),
      ask('/bot/events'),
      ask('/faults'),
      ask('/stats'),
      ask('/stripe/clock'),
      ask(`/stripe/customers${phone}`),
      ask(`/bot/chat${phone}`),
      ask(`/bot/replies${phone}`),
      ask('/bot/mode'),
    ]);
    return c.json({ phones, messages, events, faults, stats, clock, billing, chat, replies, mode });
  });
  return app;
}

const account = html`<section class="panel" aria-labelledby="account-title">
  <h2 id="account-title">This person</h2>
  <form id="trial-form" class="line">
    <label
      >Plan
      <select name="tier">
        <option value="basic">Basic</option>
        <option value="premium" selected>Premium</option>
        <option value="platinum">Platinum</option>
      </select></label
    >
    <label>Days <input name="days" type="number" min="1" max="30" value="7" /></label>
    <button type="submit">Send a trial link</button>
  </form>
  <div class="line">
    <button type="button" data-status="approved">Approve</button>
    <button type="button" data-status="pending">Set back to pending</button>
    <button type="button" id="external">Sign in from elsewhere</button>
  </div>
  <p id="account-notice" class="hint" role="status"></p>
</section>`;

const billing = html`<section class="panel" aria-labelledby="billing-title">
  <h2 id="billing-title">What Stripe holds</h2>
  <div id="billing"></div>
</section>`;

const switches = html`<section class="panel" aria-labelledby="faults-title">
  <h2 id="faults-title">Faults</h2>
  <p class="hint">How each service treats the Worker, and how often it was asked.</p>
  <ul id="faults"></ul>
  <button id="clear-stats" class="quiet" type="button">Count from zero</button>
</section>`;

const log = html`<section class="panel" aria-labelledby="log-title">
  <h2 id="log-title">Events that the bot received</h2>
  <ol id="events" tabindex="0" aria-label="Events, newest first"></ol>
</section>`;

const chat = html`<section class="panel" aria-labelledby="chat-title">
  <h2 id="chat-title">The conversation on the web</h2>
  <label
    >When somebody writes, the bot
    <select id="bot-mode">
      <option value="answer">replies</option>
      <option value="accept">accepts, does not reply</option>
      <option value="silent">stays silent</option>
      <option value="refuse">refuses</option>
    </select></label
  >
  <ol id="chat" tabindex="0" aria-label="Messages, oldest first"></ol>
  <form id="reply-form" class="line">
    <input name="text" aria-label="Write as the bot" placeholder="Write as the bot" autocomplete="off" required />
    <label><input name="crisis" type="checkbox" /> crisis</label>
    <button type="submit">Send</button>
  </form>
  <p id="reply-notice" class="hint" role="alert"></p>
</section>`;

const panels = html`<div class="panels">${account} ${chat} ${log} ${billing} ${switches}</div>`;

const icon = html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
  <circle cx="16" cy="16" r="15" class="disc" />
  <path d="M9 19a7 7 0 0 1 14 0" />
  <path d="M5.5 22.5h21" />
</svg>`;

const numbers = html`<nav class="numbers" aria-labelledby="numbers-title">
  <h2 id="numbers-title">Phones</h2>
  <form id="number-form">
    <label for="number">Any number, with its country code</label>
    <div class="row">
      <input id="number" type="tel" autocomplete="off" placeholder="+15551234567" required />
      <button class="solid" type="submit">Pick up</button>
    </div>
    <p id="number-hint" class="hint" role="alert"></p>
  </form>
  <ul id="recent"></ul>
  <button id="fresh-number" class="quiet" type="button">A number never seen before</button>
</nav>`;

const phone = html`<section class="phone" aria-labelledby="phone-title">
  <header>
    <h2 id="phone-title">Solace</h2>
    <p>on the phone <b id="phone-number"></b></p>
    <label><input id="hidden-number" type="checkbox" /> WhatsApp hides this number</label>
  </header>
  <ol id="messages" role="log" aria-label="Messages" tabindex="0"></ol>
  <p id="notice" class="notice" role="alert" hidden></p>
  <form id="write-form">
    <input id="text" aria-label="Write to Solace" placeholder="Write to Solace" autocomplete="off" maxlength="2000" />
    <button id="voice" type="button" class="round" aria-label="Send a voice message" title="Send a voice message">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <rect x="9" y="3" width="6" height="11" rx="3" />
        <path d="M6 11a6 6 0 0 0 12 0M12 17v4" />
      </svg>
    </button>
    <button type="submit" class="round solid" aria-label="Send" title="Send">
      <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M5 12h13M12 6l6 6-6 6" /></svg>
    </button>
  </form>
</section>`;

/** The page's HTML; its scripts fill and update it. */
function renderPage(siteUrl: string) {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Solace, local services</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/page/client/style.css" />
        <script type="module" src="/page/client/app.js"></script>
      </head>
      <body data-site="${siteUrl}">
        <header class="top">
          <div>
            ${icon}
            <h1>Local services</h1>
            <p>The world around Solace, on this machine: a phone, the bot, billing and a few switches.</p>
          </div>
          <a class="solid" href="${siteUrl}" target="_blank" rel="noopener">Open Solace</a>
        </header>
        <main>${numbers} ${phone} ${panels}</main>
      </body>
    </html>`;
}
