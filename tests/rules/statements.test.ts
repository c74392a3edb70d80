import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { sentencesOf } from '../../web/build/words/texts.ts';
import { noticeMs } from '../../worker/accounts/account-retention.ts';
import { planIds, plans } from '../../worker/contract/plans.ts';
import { rateLimitEventsKeptMs } from '../../worker/lib/rate-limits.ts';
import { memoize } from '../../worker/lib/memoize.ts';
import { dayMs } from '../../worker/lib/time.ts';
import { Settings } from '../../worker/settings.ts';
import { weekMs } from '../../worker/usage/week.ts';
import { titlesIn } from './test-titles.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** What a sentence claims and nothing shows; empty if it is true. */
type Check = (sentence: string) => string[];
/** A check, or the title of a test after its suite: `api: holds no secret`. `runbook:` stands before what the owner promises. */
type Proof = string | Check | Proof[];
/** The proof of each sentence of a text, by its beginning and in its order; ` | ` stands between sentences of one proof. */
type Text = Record<string, Proof>;

/** The titles of a suite's tests; a proof names no file, since tests move between files. */
const titlesOf = memoize((suite: string) => {
  const files = readdirSync(join(root, 'tests', suite), { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => file.endsWith('.test.ts')).map((file) => read(join('tests', suite, file)));
  return new Set(sources.flatMap((source) => [...titlesIn(source)]));
});

/** What no code can show: the runbook tells the owner that the texts promise it. */
const [, promises = ''] =
  /## What the texts promise in your name\n([\s\S]*?)\n## /.exec(read('worker/docs/runbook.md')) ?? [];

function lacks(proof: Proof, sentence: string): string[] {
  if (Array.isArray(proof)) return proof.flatMap((each) => lacks(each, sentence));
  if (typeof proof === 'function') return proof(sentence);
  const [, suite = '', title = ''] = /^(\w+): (.*)$/s.exec(proof) ?? [];
  const isShown = suite === 'runbook' ? promises.includes(title) : titlesOf(suite).has(title);
  return isShown ? [] : [`nothing says “${proof}”`];
}

/** The value stands in the sentence in these words. */
const says =
  (words: string): Check =>
  (sentence) =>
    sentence.includes(words) ? [] : [`the product says “${words}”`];
/** The default of a setting in days stands in the sentence. */
const days = (name: 'CHAT_RETENTION_DAYS' | 'ACCOUNT_RETENTION_DAYS', wordsOf: (value: number) => string) =>
  says(wordsOf(v.parse(Settings.entries[name], undefined)));
/** The file has the text, such as the setting of a service. */
const stands =
  (file: string, text: string): Check =>
  () =>
    read(file).includes(text) ? [] : [`${file} lacks “${text}”`];

/** Nothing about the product that could be false: a request to the reader, a rule of the agreement, what a word means. */
const advice: Proof = [];
const agreement: Proof = [];
const scope: Proof = [];

const planNames = planIds.map((id) => plans[id].name);

const encryptedStorage = [
  'api: stands in no row of the database and in no line of the log',
  'api: is stored as ciphertext alone, in the live object alone',
];
const strictTransport = stands('web/build/site-files.ts', 'Strict-Transport-Security');
const noNumberForTheModel = 'operations: asks a model where it has an address, with what was said before';
const numberNowhereElse = 'api: keeps a number only where it is needed, and the address %s nowhere';
const deletion = [
  'api: erases the account, its sessions and streams, and notifies the bot',
  numberNowhereElse,
  'api: is erased with the account',
];
const everythingExported = 'api: is a JSON attachment with everything that is kept, here and at Stripe';
const callsAndCookies = 'browser: a stream has credentials; no other call has a cookie, or a token without need';
const consentAsked = 'browser: asks for consent first, with nothing ticked, and again after its withdrawal';
const footer = 'browser: the home page says what the product is and who is behind it';
const helpWithoutNetwork = 'browser: a country chosen before the scripts is kept; then the page needs no network';
const safetyPage = 'browser: the page on safety says what Solace does and how often it referred; nothing moves';
const paidAtStripe = 'browser: each plan says what it would mean; one is bought at the payment provider, or not';
const boughtOnce = 'browser: two tabs and double clicks buy one plan once, which a deletion ends';
const planChanges = 'browser: a dearer plan begins a new week at once, and a cheaper one at the end of the week';
const oneTrial = 'api: is one for a number, ever, also with two links and after the account was deleted';
const noPlanAfterFailure = [
  'api: gives no fresh allowance while it is unpaid, nor do the three after it, until the latest is paid',
  'api: falls to free when the retries are over, by cancellation or as unpaid',
];
const paidWeekStays = 'api: ends the plan with its paid week, may be repeated, and may be taken back';
const downgradeIsUndone = 'api: undoes a scheduled change first, which a resumption does not restore';
const planBehindTrialEnds = 'api: ends the plan behind a trial before it begins, and a resumption restores it';

const privacy: Text = {
  'What you tell | This page says plainly': scope,
  'Your conversations are encrypted': [encryptedStorage, strictTransport],
  'No human reviews': 'runbook: nobody reads conversations',
  'Our AI partner processes de-identified': [noNumberForTheModel, 'runbook: the contract with the AI partner'],
  'We do not sell your data': ['runbook: no data is sold', 'build: trusts nothing inline but what it names'],
  'You can delete your account': deletion,
  'Your phone number': everythingExported,
  'Your messages, text and voice': 'api: holds the whole conversation, and not its key',
  'How many messages you use': everythingExported,
  'If you turn on notices': [
    'api: exports the push services and languages of the browsers, and no secret of theirs',
    'api: with the session that runs out: the cron job deletes it, and nobody is notified before',
  ],
  'Technical records': 'api: writes one structured line per request, without personal data',
  'They never hold what': [encryptedStorage, 'api: stands in no line of the log'],
  'Of an attempt to sign in': [
    numberNowhereElse,
    says(`for ${rateLimitEventsKeptMs === dayMs ? 'a day' : `${rateLimitEventsKeptMs} ms`}`),
  ],
  'Payments are handled': paidAtStripe,
  'We learn whether': callsAndCookies,
  'Messages travel encrypted': [encryptedStorage, strictTransport],
  'Each conversation on this site': [
    'api: are other ones after the conversation was cleared',
    'api: is unreadable without its key, with the key of another user, and out of its place',
  ],
  'That a reply was about': 'api: leaves no sign of a crisis in the database, in the row of the reply neither',
  'The companion’s service': 'api: is stored, sent to the bot and replied to, in order',
  'Login codes and link tokens': [
    'api: holds no secret and no hash',
    'rules: is HMAC-SHA256 under a key that HKDF-SHA256 derives for the purpose',
  ],
  'Nobody at our company': ['runbook: nobody reads conversations', 'operations: never shows the conversation'],
  'If you ask us for help': 'runbook: nobody reads conversations',
  'Answers are written': 'runbook: the contract with the AI partner',
  'The partner receives': [noNumberForTheModel, 'runbook: the bot gives the AI partner'],
  'What you write or say': advice,
  'The partner processes': 'runbook: the contract with the AI partner',
  'To provide the service': scope,
  'Where the law asks': consentAsked,
  'You withdraw it there': [
    'api: removes the conversation when it is withdrawn',
    'browser: a pending user sees the pending page, can withdraw consent and log out',
  ],
  'Deleting your account withdraws': deletion,
  'Only those who help us': 'runbook: nobody else receives data',
  '{app}, to carry': 'api: sends one WhatsApp message to somebody who has written',
  'our AI partner, for': noNumberForTheModel,
  'Stripe, for payments': paidAtStripe,
  'the notice service of your browser': 'api: for a reply is in the language %s and says nothing of the reply',
  'Cloudflare, which runs': [encryptedStorage, stands('wrangler.toml', 'LIVE_USER')],
  'We hand data': 'runbook: authorities',
  'Messages on this site, recordings included': [
    days('CHAT_RETENTION_DAYS', (value) => `kept for ${value} days`),
    'api: comes within a day of the days that are set, for the ids of cleared messages too',
    'api: is kept as long as messages are, and no longer',
    stands('worker/live/live-user.ts', 'const retentionCheckMs = dayMs;'),
  ],
  'A session ends after': 'api: refuses a session after its thirty days',
  'Everything else is kept': ['api: deletes the expired rows of %s, and no others', deletion],
  'If nobody uses an account': [
    days('ACCOUNT_RETENTION_DAYS', (value) => `for ${value / 365 === 2 ? 'two years' : `${value} days`}`),
    says(`${noticeMs / dayMs} days later`),
    'api: is announced to the bot, and deleted 30 days later like one that its user deletes',
  ],
  'When you delete your account': [deletion, boughtOnce],
  'Codes that are made from your number': [
    says(`for ${weekMs === 7 * dayMs ? 'a week' : `${weekMs} ms`}`),
    numberNowhereElse,
    oneTrial,
    'api: leaves nothing of it behind once the week has ended, and nothing without a count',
    'api: does not give away the number to somebody who tries all of them',
    stands('worker/lib/cleanup.ts', 'since: botCalls.at, keptMs: 7 * dayMs'),
  ],
  'The order to erase its copy': [
    'api: keeps of a deletion that the bot refused neither number nor id, and nothing after 30 days',
    stands('worker/lib/cleanup.ts', 'parkedDeletionsKeptMs = 30 * dayMs'),
  ],
  'Our providers can restore': [
    stands('worker/docs/runbook.md', 'Cloudflare keeps 30 days of each object'),
    stands('worker/docs/runbook.md', 'Turso keeps every commit for 1 to 90 days'),
  ],
  'Payment records stay': 'runbook: payment records',
  'Wherever you live': scope,
  'show you the data': everythingExported,
  'correct what is wrong': 'runbook: requests about data',
  'erase it': deletion,
  'limit or stop': 'runbook: requests about data',
  'hand it over': 'browser: the data is saved as a JSON file, and a download that fails says so once',
  'On your account page': [
    'browser: the data is saved as a JSON file, and a download that fails says so once',
    'browser: another session can be ended, this one cannot, and logging out everywhere ends both',
    'browser: the deletion says what is lost and gives the focus back; a failure keeps the account',
  ],
  'For the rest write': 'runbook: requests about data within 30 days',
  'You may also complain': advice,
  'This site sets no cookies': [
    callsAndCookies,
    'browser: every page has the strict headers, and every address its own status',
  ],
  'Your browser’s storage': [
    'browser: a stored token is used until it ends, which leads away from the account',
    'browser: the colours are changed by a button and stored, and the active link looks different',
    'browser: a phone signs in, sees its usage move in two tabs, and logs out of both',
  ],
  '{name} supports well-being': scope,
  'It is not meant': consentAsked,
  'When this policy changes': 'runbook: a change of the texts',
  'Questions and requests': footer,
};

const terms: Text = {
  'These terms are | Please read them': agreement,
  '{name} is an AI companion': scope,
  'You talk with': 'browser: carries a message and its reply, also after a reload, and keeps nothing else',
  'Its answers are written | No human being': 'runbook: software writes every reply',
  'The approach is | It is an approach | {name} is not a medical | It does not diagnose': scope,
  'Never delay': advice,
  '{name} cannot respond': scope,
  'If you or someone else': advice,
  'Crisis lines by country': 'browser: the account, the contact page, the terms and the page on safety lead there',
  'You must be at least 18': agreement,
  'Your phone number is': 'api: opens a session with a three-part token that knows no phone number',
  'You log in with': 'api: sends one WhatsApp message to somebody who has written',
  'Keep your phone | Tell us at once': advice,
  'We may ask new accounts': 'api: makes new users wait when it is manual, until the bot approves them',
  'Every account has': says(`${planNames.slice(0, -1).join(', ')} or ${planNames.at(-1)}`),
  'Each plan comes': 'browser: four plans stand in order, with price, allowance and voice',
  'Voice replies are included': [
    says(`from ${plans[planIds.find((id) => plans[id].hasVoice)!].name} upward`),
    'api: refuses voice where the plan has none',
  ],
  'Your allowance is reset': [
    says(`every ${plans.free.periodDescription}`),
    'rules: lasts seven days from its anchor, to the millisecond',
  ],
  'Messages that you do not':
    'api: is counted from the first contact and starts at 0 again, also when nothing ran at midnight',
  'When the allowance': [
    'api: does not count what would pass the limit',
    'api: begins a new, fully paid week, also minutes before the renewal',
  ],
  'Paid plans are': 'api: opens a checkout for %s, and the return brings it',
  'They are billed weekly': 'api: is paid as soon as it is seen, and opens the new week',
  'Prices are in US dollars': 'api: calculates tax with AUTOMATIC_TAX=on, from the address that Checkout asks for',
  'Payments are taken': paidAtStripe,
  'We never see or store': callsAndCookies,
  'If a payment fails': [noPlanAfterFailure, stands('worker/docs/runbook.md', 'retries for at most two weeks')],
  'Until it succeeds': noPlanAfterFailure,
  'If we change a price': 'runbook: a new price',
  'The new price applies':
    'api: lets those who pay the old one change, cancel and pay, and setting up twice changes nothing',
  'We may offer a trial': oneTrial,
  'A trial needs no card': 'api: opens the session and grants its plan for its days, by the clock',
  'When it ends': ['api: waits for its end', 'rules: ignores a trial from the instant of its end'],
  'You can change or cancel': [
    planChanges,
    'browser: from the landing page, signed out, to the end of the subscription',
  ],
  'Cancelling ends the | You keep your plan': paidWeekStays,
  'A change to a smaller': downgradeIsUndone,
  'If a payment is overdue': 'api: collects nothing more of a payment that is due, until it is taken back',
  'Until that day': paidWeekStays,
  'If you cancel during | The trial itself': planBehindTrialEnds,
  'A move to a larger plan takes': [
    stands('worker/operations/stripe-setup/stripe-setup.ts', "'none' = 'always_invoice';"),
    planChanges,
    'api: begins a new, fully paid week, also minutes before the renewal',
  ],
  'A move to a smaller': planChanges,
  'There are no refunds': agreement,
  'Deleting your account': [deletion, boughtOnce],
  'This cannot be undone': deletion,
  'Conversations are encrypted': [encryptedStorage, 'runbook: nobody reads conversations'],
  'To write its answers': [noNumberForTheModel, 'runbook: the bot gives the AI partner'],
  'The Privacy Policy says': scope,
  'Please do not | use the service | try to get around | share, sell | copy, scrape | We may suspend': agreement,
  'What you write stays | You allow us | The service itself': agreement,
  'We do our best': scope,
  'The service is provided | As far as the law | Nothing in these terms | We may change': agreement,
  'If a change matters': 'runbook: a change of the texts',
  'Questions?': scope,
  'Write to': footer,
};

const safety: Text = {
  'What {companion} does | Get help now': scope,
  '{companion} is an AI | Software writes': 'runbook: software writes every reply',
  '{companion} is for adults | It may not be suitable | {name} is not a crisis': scope,
  '{companion} is built to notice': [
    'runbook: the bot marks a reply about a crisis',
    'operations: counts, repeats what it reads, and marks a crisis',
  ],
  'The same holds for eating': 'runbook: about an eating disorder included',
  'In the chat on this site': 'browser: opens the help panel with a reply that is marked as a crisis',
  'You can open the panel': 'browser: help is reached before the app has started',
  'In {app} no panel': scope,
  'This site’s page': helpWithoutNetwork,
  'The page “Get help now” needs':
    'browser: a visitor gets the lines of the country of the connection, then those of the number',
  'For 24 hours after': 'api: are the allowance of the week, but for a day after a crisis',
  'Nobody at {name} | Nobody is watching': 'runbook: nobody reads conversations',
  '{name} does not call | {companion} can miss': scope,
  'A reply can come late': 'api: a message fails after a day, also behind another event that waits',
  'If you need a person': advice,
  'Each number stands': 'rules: %s keeps every rule',
  'We show the date': 'rules: says which line and of when',
  'Where no source': 'rules: says nothing where the sources say nothing',
  'A country without': 'browser: a country without a line gets no number, but the way to others',
  'We never show': 'rules: gives no neighbour’s line to a country without one',
  'The numbers are part | It does not ask anybody': helpWithoutNetwork,
  'A number does not work | <contact>': scope,
  'Protocol version': safetyPage,
};

const referrals: Text = {
  'On this site we count':
    'api: counts a crisis reply when it is read first, and not again by tabs, replays, restarts and later reads',
  'In {app}, {companion} reports': [
    'runbook: the crisis lines that it names on WhatsApp',
    "api: counts the bot's own once for a webhook-id, as long as the number is known",
  ],
  'We keep a number': 'api: keeps nothing about the person beside the count of the day',
  'We have counted since': stands('web/pages/help/safety-page.tsx', "countedSince = '2026-11-23'"),
  '{year}: {count | {year}: not counted | {year}, until today | The numbers cannot': safetyPage,
  'The numbers as data': 'browser: a number is three taps from any page, and the counts of referrals are open data',
};

const cancelling: Text = {
  'You keep your plan | Nothing is charged': paidWeekStays,
  'A change to a smaller': downgradeIsUndone,
  'A plan that was to follow': planBehindTrialEnds,
  'You can change your mind | Your account and your': paidWeekStays,
  'You can delete them': deletion,
};

const consent: Text = {
  'Please read this': consentAsked,
  '{companion} is an AI': 'runbook: software writes every reply',
  'Its replies can be | {companion} is not for | It may not be': scope,
  'You must be 18': agreement,
  'What you write may': scope,
  '{name} stores it encrypted': [
    encryptedStorage,
    days('CHAT_RETENTION_DAYS', (value) => `for ${value} days`),
    noNumberForTheModel,
    'runbook: the bot gives the AI partner',
  ],
  'Your name goes along': 'runbook: the bot gives the AI partner',
  'You can clear': ['browser: two tabs show the same conversation, also after it was cleared in one', consentAsked],
  'I am 18': agreement,
  'I agree': 'api: comes before the first message, is versioned, and is reported to the bot',
  'Start the': scope,
  'Please tick': consentAsked,
  'Your consent could | Please try again | Privacy Policy | How {name} handles': scope,
};

const texts: [name: string, group: string, text: Text][] = [
  ['/privacy', 'privacy-policy.privacyPolicy', privacy],
  ['/terms', 'terms.terms', terms],
  ['/safety', 'help.safety', safety],
  ['/safety, in numbers,', 'help.referral', referrals],
  ['/cancel', 'cancel.cancel.points', cancelling],
  ['the consent notice', 'chat-consent.consent', consent],
];

/** The sentences of a text in English, without titles and the date, with their keys. */
const statementsOf = (group: string) =>
  [...sentencesOf('en')]
    .filter(([key]) => key.startsWith(`${group}.`) && !/\.(?:title|lastUpdated)$/.test(key))
    .flatMap(([key, text]) => text.split(/(?<=[.?!]) (?=[A-Z{<])/).map((sentence) => ({ key, sentence })));

describe.each(texts)('what %s says', (_name, group, text) => {
  const statements = statementsOf(group);
  const rows = Object.entries(text)
    .flatMap(([beginnings, proof]) => beginnings.split(' | ').map((beginning) => ({ beginning, proof })))
    .map((row, index) => ({ ...row, sentence: statements[index]?.sentence ?? '' }));

  it('has a proof for each sentence, and no proof is left over', () => {
    const beginnings = rows.map(({ beginning }) => beginning);
    expect(statements.map(({ sentence }, index) => sentence.slice(0, beginnings[index]?.length))).toEqual(beginnings);
  });

  it.each(rows)('“$beginning…” is true', ({ proof, sentence }) => {
    expect(lacks(proof, sentence)).toEqual([]);
  });

  it.each(['es', 'pt-br'])('names the same numbers in %s', (folder) => {
    const [english, translated] = [sentencesOf('en'), sentencesOf(folder)];
    const numbersOf = (words = '') => (words.match(/\d+/g) ?? []).toSorted();
    for (const { key } of statements)
      expect(numbersOf(translated.get(key)), `${folder}: ${key}`).toEqual(numbersOf(english.get(key)));
  });
});
