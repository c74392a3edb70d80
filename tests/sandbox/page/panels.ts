import { html } from 'hono/html';

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

export const panels = html`<div class="panels">${account} ${chat} ${log} ${billing} ${switches}</div>`;
