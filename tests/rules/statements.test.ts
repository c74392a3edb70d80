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
const runbook = read('worker/docs/runbook.md');

/** What a sentence claims and nothing shows; empty if it is true. */
type Proof = (sentence: string) => string[];
type Row = [beginning: string, ...proofs: Proof[]];

/** The titles of a suite's tests; a row names no file, since tests move between files. */
const titlesOf = memoize((suite: string) => {
  const files = readdirSync(join(root, 'tests', suite), { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => file.endsWith('.test.ts')).map((file) => read(join('tests', suite, file)));
  return new Set(sources.flatMap((source) => [...titlesIn(source)]));
});

/** The named tests of a suite, `api: holds no secret`, show it. */
const shownBy =
  (...tests: string[]): Proof =>
  () =>
    tests
      .filter((test) => {
        const [suite = '', ...title] = test.split(': ');
        return !titlesOf(suite).has(title.join(': '));
      })
      .map((test) => `there is no test “${test}”`);
/** The value stands in the sentence in these words. */
const says =
  (words: string): Proof =>
  (sentence) =>
    sentence.includes(words) ? [] : [`the product says “${words}”`];
/** The default of a setting in days stands in the sentence. */
const days = (name: 'CHAT_RETENTION_DAYS' | 'ACCOUNT_RETENTION_DAYS', wordsOf: (value: number) => string): Proof =>
  says(wordsOf(v.parse(Settings.entries[name], undefined)));
/** The files have the text, such as the setting of a service. */
const stands =
  (file: string, text: string): Proof =>
  () =>
    read(file).includes(text) ? [] : [`${file} lacks “${text}”`];
/** No code can show it: the runbook tells the owner that the text promises it. */
const promised = (phrase: string): Proof => {
  const [, section = ''] = /## What the texts promise in your name\n([\s\S]*?)\n## /.exec(runbook) ?? [];
  return () => (section.includes(phrase) ? [] : [`the runbook’s list of promises lacks “${phrase}”`]);
};
/** Nothing about the product that could be false: a request to the reader, a rule of the agreement, what a word means. */
const advice: Proof = () => [];
const agreement: Proof = () => [];
const scope: Proof = () => [];

const encryptedStorage = shownBy(
  'api: stands in no row of the database and in no line of the log',
  'api: is stored as ciphertext alone, in the live object alone',
);
const noNumberForTheModel = shownBy('operations: asks a model where it has an address, with what was said before');
const deletion = shownBy(
  'api: erases the account, its sessions and streams, and notifies the bot',
  'api: keeps a number only where it is needed, and the address %s nowhere',
  'api: is erased with the account',
);
const withdrawal = shownBy(
  'api: removes the conversation when it is withdrawn',
  'browser: a pending user sees the pending page, can withdraw consent and log out',
);
const footer = shownBy(
  'browser: the home page says what the product is and who is behind it, and leads a visitor to the login',
);
const helpLines = shownBy('rules: %s keeps every rule');
const noPlanAfterFailure = shownBy(
  'api: gives no fresh allowance while it is unpaid, nor do the three after it, until the latest is paid',
  'api: falls to free when the retries are over, by cancellation or as unpaid',
);

const paidWeekStays = shownBy('api: ends the plan with its paid week, may be repeated, and may be taken back');
const downgradeIsUndone = shownBy('api: undoes a scheduled change first, which a resumption does not restore');
const planBehindTrialEnds = shownBy('api: ends the plan behind a trial before it begins, and a resumption restores it');

const privacy: Row[] = [
  ['What you tell', scope],
  ['This page says plainly', scope],
  [
    'Your conversations are encrypted',
    encryptedStorage,
    stands('web/build/site-files.ts', 'Strict-Transport-Security'),
  ],
  ['No human reviews', promised('nobody reads conversations')],
  ['Our AI partner processes de-identified', noNumberForTheModel, promised('the contract with the AI partner')],
  ['We do not sell your data', promised('no data is sold'), shownBy('build: trusts nothing inline but what it names')],
  ['You can delete your account', deletion],
  ['Your phone number', shownBy('api: is a JSON attachment with everything that is kept, here and at Stripe')],
  ['Your messages, text and voice', shownBy('api: holds the whole conversation, and not its key')],
  ['How many messages you use', shownBy('api: is a JSON attachment with everything that is kept, here and at Stripe')],
  [
    'If you turn on notices',
    shownBy('api: exports the push services and languages of the browsers, and no secret of theirs'),
    shownBy('api: with the session that runs out: the cron job deletes it, and nobody is notified before'),
  ],
  ['Technical records', shownBy('api: writes one structured line per request, without personal data')],
  ['They never hold what', encryptedStorage, shownBy('api: stands in no line of the log')],
  [
    'Of an attempt to sign in',
    shownBy('api: keeps a number only where it is needed, and the address %s nowhere'),
    says(`for ${rateLimitEventsKeptMs === dayMs ? 'a day' : `${rateLimitEventsKeptMs} ms`}`),
  ],
  [
    'Payments are handled',
    shownBy(
      'browser: a subscriber sees what each plan would mean; one is bought at the payment provider, or it says why not, once',
    ),
  ],
  ['We learn whether', shownBy('browser: every call goes where it should, with what it should and without cookies')],
  ['Messages travel encrypted', encryptedStorage, stands('web/build/site-files.ts', 'Strict-Transport-Security')],
  [
    'Each conversation on this site',
    shownBy(
      'api: are other ones after the conversation was cleared',
      'api: is unreadable without its key, with the key of another user, and out of its place',
    ),
  ],
  [
    'That a reply was about',
    shownBy('api: leaves no sign of a crisis in the database, in the row of the reply neither'),
  ],
  ['The companion’s service', shownBy('api: is stored, sent to the bot and replied to, in order')],
  [
    'Login codes and link tokens',
    shownBy(
      'api: holds no secret and no hash',
      'rules: is HMAC-SHA256 under a key that HKDF-SHA256 derives for the purpose',
    ),
  ],
  [
    'Nobody at our company',
    promised('nobody reads conversations'),
    shownBy('operations: never shows the conversation'),
  ],
  ['If you ask us for help', promised('nobody reads conversations')],
  ['Answers are written', promised('the contract with the AI partner')],
  ['The partner receives', noNumberForTheModel, promised('the bot gives the AI partner')],
  ['What you write or say', advice],
  ['The partner processes', promised('the contract with the AI partner')],
  ['To provide the service', scope],
  [
    'Where the law asks',
    shownBy('browser: asks for consent before the first message, with nothing ticked, and again after its withdrawal'),
  ],
  ['You withdraw it there', withdrawal],
  ['Deleting your account withdraws', deletion],
  ['Only those who help us', promised('nobody else receives data')],
  ['{app}, to carry', shownBy('api: sends one WhatsApp message to somebody who has written')],
  ['our AI partner, for', noNumberForTheModel],
  [
    'Stripe, for payments',
    shownBy(
      'browser: a subscriber sees what each plan would mean; one is bought at the payment provider, or it says why not, once',
    ),
  ],
  [
    'the notice service of your browser',
    shownBy('api: for a reply is in the language %s and says nothing of the reply'),
  ],
  ['Cloudflare, which runs', encryptedStorage, stands('wrangler.toml', 'LIVE_USER')],
  ['We hand data', promised('authorities')],
  [
    'Messages on this site, recordings included',
    days('CHAT_RETENTION_DAYS', (value) => `kept for ${value} days`),
    shownBy(
      'api: comes within a day of the days that are set, for the ids of cleared messages too',
      'api: is kept as long as messages are, and no longer',
    ),
    stands('worker/live/live-user.ts', 'const retentionCheckMs = dayMs;'),
  ],
  ['A session ends after', shownBy('api: refuses a session after its thirty days')],
  ['Everything else is kept', shownBy('api: deletes the expired rows of %s, and no others'), deletion],
  [
    'If nobody uses an account',
    days('ACCOUNT_RETENTION_DAYS', (value) => `for ${value / 365 === 2 ? 'two years' : `${value} days`}`),
    says(`${noticeMs / dayMs} days later`),
    shownBy('api: is announced to the bot, and deleted 30 days later like one that its user deletes'),
  ],
  [
    'When you delete your account',
    deletion,
    shownBy(
      'browser: a free user buys a plan; two tabs and double clicks make one customer, one checkout and one subscription',
    ),
  ],
  [
    'Codes that are made from your number',
    says(`for ${weekMs === 7 * dayMs ? 'a week' : `${weekMs} ms`}`),
    shownBy(
      'api: keeps a number only where it is needed, and the address %s nowhere',
      'api: is one for a number, ever, also with two links and after the account was deleted',
      'api: leaves nothing of it behind once the week has ended, and nothing without a count',
      'api: does not give away the number to somebody who tries all of them',
    ),
    stands('worker/lib/cleanup.ts', 'since: botCalls.at, keptMs: 7 * dayMs'),
  ],
  [
    'The order to erase its copy',
    shownBy('api: keeps of a deletion that the bot refused neither number nor id, and nothing after 30 days'),
    stands('worker/lib/cleanup.ts', 'parkedDeletionsKeptMs = 30 * dayMs'),
  ],
  [
    'Our providers can restore',
    stands('worker/docs/runbook.md', 'Cloudflare keeps 30 days of each object'),
    stands('worker/docs/runbook.md', 'Turso keeps every commit for 1 to 90 days'),
  ],
  ['Payment records stay', promised('payment records')],
  ['Wherever you live', scope],
  ['show you the data', shownBy('api: is a JSON attachment with everything that is kept, here and at Stripe')],
  ['correct what is wrong', promised('requests about data')],
  ['erase it', deletion],
  ['limit or stop', promised('requests about data')],
  ['hand it over', shownBy('browser: the data is saved as a JSON file, and a download that fails says so once')],
  [
    'On your account page',
    shownBy(
      'browser: the data is saved as a JSON file, and a download that fails says so once',
      'browser: another session can be ended, this one cannot, and logging out everywhere ends both',
      'browser: the deletion says what is lost, keeps the focus and gives it back; a failure keeps the account',
    ),
  ],
  ['For the rest write', promised('requests about data within 30 days')],
  ['You may also complain', advice],
  [
    'This site sets no cookies',
    shownBy(
      'browser: every call goes where it should, with what it should and without cookies',
      'browser: every page carries the strict headers',
    ),
  ],
  [
    'Your browser’s storage',
    shownBy(
      'browser: a stored token is used unless it says that it has ended',
      'browser: the colours are changed by a button and stored, and the active link looks different',
      'browser: a phone signs in, sees its usage move in two tabs, and logs out of both in one',
    ),
  ],
  ['{name} supports well-being', scope],
  [
    'It is not meant',
    shownBy('browser: asks for consent before the first message, with nothing ticked, and again after its withdrawal'),
  ],
  ['When this policy changes', promised('a change of the texts')],
  ['Questions and requests', footer],
];

const terms: Row[] = [
  ['These terms are', agreement],
  ['Please read them', agreement],
  ['{name} is an AI companion', scope],
  [
    'You talk with',
    shownBy(
      'browser: carries a message to the companion and its reply back, shows both after a reload, and keeps nothing else',
    ),
  ],
  ['Its answers are written', promised('software writes every reply')],
  ['No human being', promised('software writes every reply')],
  ['The approach is', scope],
  ['It is an approach', scope],
  ['{name} is not a medical', scope],
  ['It does not diagnose', scope],
  ['Never delay', advice],
  ['{name} cannot respond', scope],
  ['If you or someone else', advice],
  [
    'Crisis lines by country',
    shownBy('browser: the account, the contact page, the terms and a crashed page lead there'),
  ],
  ['You must be at least 18', agreement],
  ['Your phone number is', shownBy('api: opens a session with a three-part token that knows no phone number')],
  ['You log in with', shownBy('api: sends one WhatsApp message to somebody who has written')],
  ['Keep your phone', advice],
  ['Tell us at once', advice],
  ['We may ask new accounts', shownBy('api: makes new users wait when it is manual, until the bot approves them')],
  [
    'Every account has',
    says(
      `${planIds
        .slice(0, -1)
        .map((id) => plans[id].name)
        .join(', ')} or ${plans.platinum.name}`,
    ),
  ],
  ['Each plan comes', shownBy('browser: four plans stand in order, with price, allowance and voice')],
  [
    'Voice replies are included',
    says(`from ${planIds.map((id) => plans[id]).find(({ hasVoice }) => hasVoice)?.name} upward`),
    shownBy('api: refuses voice where the plan has none'),
  ],
  [
    'Your allowance is reset',
    says(`every ${plans.free.periodDescription}`),
    shownBy('rules: lasts seven days from its anchor, to the millisecond'),
  ],
  [
    'Messages that you do not',
    shownBy('api: is counted from the first contact and starts at 0 again, also when nothing ran at midnight'),
  ],
  [
    'When the allowance',
    shownBy(
      'api: does not count what would pass the limit',
      'api: begins a new, fully paid week, also minutes before the renewal',
    ),
  ],
  ['Paid plans are', shownBy('api: opens a checkout for %s, and the return brings it')],
  ['They are billed weekly', shownBy('api: is paid as soon as it is seen, and opens the new week')],
  [
    'Prices are in US dollars',
    shownBy('api: calculates tax with AUTOMATIC_TAX=on, from the address that Checkout asks for'),
  ],
  [
    'Payments are taken',
    shownBy(
      'browser: a subscriber sees what each plan would mean; one is bought at the payment provider, or it says why not, once',
    ),
  ],
  [
    'We never see or store',
    shownBy('browser: every call goes where it should, with what it should and without cookies'),
  ],
  ['If a payment fails', noPlanAfterFailure, stands('worker/docs/runbook.md', 'retries for at most two weeks')],
  ['Until it succeeds', noPlanAfterFailure],
  ['If we change a price', promised('a new price')],
  [
    'The new price applies',
    shownBy('api: lets those who pay the old one change, cancel and pay, and setting up twice changes nothing'),
  ],
  [
    'We may offer a trial',
    shownBy('api: is one for a number, ever, also with two links and after the account was deleted'),
  ],
  ['A trial needs no card', shownBy('api: opens the session and grants its plan for its days, by the clock')],
  ['When it ends', shownBy('api: waits for its end', 'rules: ignores a trial from the instant of its end')],
  [
    'You can change or cancel',
    shownBy('browser: a cancellation can be taken back, or ends the plan with the week'),
    shownBy('browser: from the landing page, signed out, to the end of the subscription'),
  ],
  ['Cancelling ends the', paidWeekStays],
  ['You keep your plan', paidWeekStays],
  ['A change to a smaller', downgradeIsUndone],
  ['If a payment is overdue', shownBy('api: collects nothing more of a payment that is due, until it is taken back')],
  ['Until that day', paidWeekStays],
  ['If you cancel during', planBehindTrialEnds],
  ['The trial itself', planBehindTrialEnds],
  [
    'A move to a larger plan takes',
    stands('worker/operations/stripe-setup/stripe-setup.ts', "'none' = 'always_invoice';"),
    shownBy('browser: a dearer plan begins a new week at once, and a cheaper one at the end of the week'),
    shownBy('api: begins a new, fully paid week, also minutes before the renewal'),
  ],
  [
    'A move to a smaller',
    shownBy('browser: a dearer plan begins a new week at once, and a cheaper one at the end of the week'),
  ],
  ['There are no refunds', agreement],
  [
    'Deleting your account',
    deletion,
    shownBy(
      'browser: a free user buys a plan; two tabs and double clicks make one customer, one checkout and one subscription',
    ),
  ],
  ['This cannot be undone', deletion],
  ['Conversations are encrypted', encryptedStorage, promised('nobody reads conversations')],
  ['To write its answers', noNumberForTheModel, promised('the bot gives the AI partner')],
  ['The Privacy Policy says', scope],
  ['Please do not', agreement],
  ['use the service', agreement],
  ['try to get around', agreement],
  ['share, sell', agreement],
  ['copy, scrape', agreement],
  ['We may suspend', agreement],
  ['What you write stays', agreement],
  ['You allow us', agreement],
  ['The service itself', agreement],
  ['We do our best', scope],
  ['The service is provided', agreement],
  ['As far as the law', agreement],
  ['Nothing in these terms', agreement],
  ['We may change', agreement],
  ['If a change matters', promised('a change of the texts')],
  ['Questions?', scope],
  ['Write to', footer],
];

const safety: Row[] = [
  ['What {companion} does', scope],
  ['Get help now', scope],
  ['{companion} is an AI', promised('software writes every reply')],
  ['Software writes', promised('software writes every reply')],
  ['{companion} is for adults', scope],
  ['It may not be suitable', scope],
  ['{name} is not a crisis', scope],
  [
    '{companion} is built to notice',
    promised('the bot marks a reply about a crisis'),
    shownBy('operations: counts, repeats what it reads, and marks a crisis'),
  ],
  ['The same holds for eating', promised('about an eating disorder included')],
  ['In the chat on this site', shownBy('browser: opens the help panel with a reply that is marked as a crisis')],
  ['You can open the panel', shownBy('browser: help is reached before the app has started')],
  ['In {app} no panel', scope],
  [
    'This site’s page',
    shownBy(
      'browser: a country chosen before the scripts is shown once they have come; then the page needs no network',
    ),
  ],
  ['The page “Get help now” needs', shownBy('browser: a visitor gets the lines of the country of the connection')],
  ['For 24 hours after', shownBy('api: are the allowance of the week, but for a day after a crisis')],
  ['Nobody at {name}', promised('nobody reads conversations')],
  ['Nobody is watching', promised('nobody reads conversations')],
  ['{name} does not call', scope],
  ['{companion} can miss', scope],
  ['A reply can come late', shownBy('api: a message fails after a day, also behind another event that waits')],
  ['If you need a person', advice],
  ['Each number stands', helpLines],
  ['We show the date', shownBy('rules: says which line and of when')],
  ['Where no source', shownBy('rules: says nothing where the sources say nothing')],
  ['A country without', shownBy('browser: a country without a line gets no number, but the way to others')],
  ['We never show', shownBy('rules: gives no neighbour’s line to a country without one')],
  [
    'The numbers are part',
    shownBy(
      'browser: a country chosen before the scripts is shown once they have come; then the page needs no network',
    ),
  ],
  [
    'It does not ask anybody',
    shownBy(
      'browser: a country chosen before the scripts is shown once they have come; then the page needs no network',
    ),
  ],
  ['A number does not work', scope],
  ['<contact>', scope],
  [
    'Protocol version',
    shownBy(
      'browser: the page on safety says what Solace can and cannot do, and how often it referred, and nothing moves',
    ),
  ],
];

const referrals: Row[] = [
  [
    'On this site we count',
    shownBy(
      'api: counts a crisis reply when it is read first, and not again by tabs, replays, restarts and later reads',
    ),
  ],
  [
    'In {app}, {companion} reports',
    promised('the crisis lines that it names on WhatsApp'),
    shownBy("api: counts the bot's own once for a webhook-id, as long as the number is known"),
  ],
  ['We keep a number', shownBy('api: keeps nothing about the person beside the count of the day')],
  ['We have counted since', stands('web/pages/help/safety-page.tsx', "countedSince = '2026-11-23'")],
  [
    '{year}: {count',
    shownBy(
      'browser: the page on safety says what Solace can and cannot do, and how often it referred, and nothing moves',
    ),
  ],
  [
    '{year}: not counted',
    shownBy('browser: a year in which nobody counted has no number, and without the numbers the page says so'),
  ],
  [
    '{year}, until today',
    shownBy('browser: a year in which nobody counted has no number, and without the numbers the page says so'),
  ],
  [
    'The numbers cannot',
    shownBy('browser: a year in which nobody counted has no number, and without the numbers the page says so'),
  ],
  ['The numbers as data', shownBy('browser: the page on safety says what is counted, and leads to the numbers')],
];

const cancelling: Row[] = [
  ['You keep your plan', paidWeekStays],
  ['Nothing is charged', paidWeekStays],
  ['A change to a smaller', downgradeIsUndone],
  ['A plan that was to follow', planBehindTrialEnds],
  ['You can change your mind', paidWeekStays],
  ['Your account and your', paidWeekStays],
  ['You can delete them', deletion],
];

const consent: Row[] = [
  [
    'Please read this',
    shownBy('browser: asks for consent before the first message, with nothing ticked, and again after its withdrawal'),
  ],
  ['{companion} is an AI', promised('software writes every reply')],
  ['Its replies can be', scope],
  ['{companion} is not for', scope],
  ['It may not be', scope],
  ['You must be 18', agreement],
  ['What you write may', scope],
  [
    '{name} stores it encrypted',
    encryptedStorage,
    days('CHAT_RETENTION_DAYS', (value) => `for ${value} days`),
    noNumberForTheModel,
    promised('the bot gives the AI partner'),
  ],
  ['Your name goes along', promised('the bot gives the AI partner')],
  [
    'You can clear',
    shownBy(
      'browser: two tabs show the same conversation, also after it was cleared in one',
      'browser: asks for consent before the first message, with nothing ticked, and again after its withdrawal',
    ),
  ],
  ['I am 18', agreement],
  ['I agree', shownBy('api: comes before the first message, is versioned, and is reported to the bot')],
  ['Start the', scope],
  [
    'Please tick',
    shownBy('browser: asks for consent before the first message, with nothing ticked, and again after its withdrawal'),
  ],
  ['Your consent could', scope],
  ['Please try again', scope],
  ['Privacy Policy', scope],
  ['How {name} handles', scope],
];

const documents: [name: string, group: string, rows: Row[]][] = [
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

describe.each(documents)('what %s says', (_name, group, rows) => {
  const statements = statementsOf(group);

  it('has a proof for each sentence, and no proof is left over', () => {
    const without = statements.filter(({ sentence }, index) => !sentence.startsWith(rows[index]?.[0] ?? '\n'));
    expect(without[0], 'the first sentence without a row').toBeUndefined();
    expect(rows).toHaveLength(statements.length);
  });

  it.each(rows.map(([beginning, ...proofs], index) => [beginning, index, proofs] as const))(
    '“%s…” is true',
    (_beginning, index, proofs) => {
      expect(proofs.length).toBeGreaterThan(0);
      expect(proofs.flatMap((proof) => proof(statements[index]?.sentence ?? ''))).toEqual([]);
    },
  );

  it.each(['es', 'pt-br'])('names the same numbers in %s', (folder) => {
    const [english, translated] = [sentencesOf('en'), sentencesOf(folder)];
    const numbersOf = (text = '') => (text.match(/\d+/g) ?? []).toSorted();
    for (const key of new Set(statements.map((each) => each.key)))
      expect(numbersOf(translated.get(key)), `${folder}: ${key}`).toEqual(numbersOf(english.get(key)));
  });
});
