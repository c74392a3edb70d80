import { html } from 'hono/html';
import { panels } from './panels.ts';

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
export function renderPage(siteUrl: string) {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Solace, local services</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/page/style/base.css" />
        <link rel="stylesheet" href="/page/style/phone.css" />
        <link rel="stylesheet" href="/page/style/panels.css" />
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
