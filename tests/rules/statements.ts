const encrypted = [
  'api: stands in no row of the database and in no line of the log',
  'api: is stored as ciphertext alone, in the live object alone',
];
const erased = [
  'api: erases the account, its sessions and streams, and notifies the bot',
  'api: keeps a number only where it is needed, and the address ${address} nowhere',
  'api: is erased with the account',
];

/*
 * What proves each sentence of our legal texts. A key is the first words of a sentence, in its order;
 * `|` stands between sentences of the same proofs. A proof is one of:
 *
 * - `api`, `browser`, `rules`, `operations` or `build`: a test of this suite has these words in its title.
 * - `says`: the sentence has the value of the product.
 * - `runbook`: its section "What the texts promise in your name" asks the owner to keep it; no code can show it.
 * - a file: it has this text, such as a setting of a service.
 * - `none`: nothing about the product could be false.
 */
export const texts: Record<string, Record<string, string[]>> = {
  // /privacy
  'privacy-policy.privacyPolicy': {
    'What you tell | This page says plainly': ['none: claims nothing about the product'],
    'Your conversations are encrypted': [
      ...encrypted,
      'web/build/site-files.ts: Strict-Transport-Security',
    ],
    'No human reviews': ['runbook: nobody reads conversations'],
    'Our AI partner processes de-identified': [
      'operations: asks a model where it has an address, with what was said before',
      'runbook: The contract with the AI partner',
    ],
    'We do not sell your data': [
      'runbook: No data is sold',
      'build: trusts nothing inline but what it names',
    ],
    'You can delete your account': [...erased],
    'Your phone number': [
      'api: is a JSON attachment with everything that is kept, here and at Stripe',
    ],
    'Your messages, text and voice': ['api: holds the whole conversation, and not its key'],
    'How many messages you use': [
      'api: is a JSON attachment with everything that is kept, here and at Stripe',
    ],
    'If you turn on notices': [
      'api: exports the push services and languages of the browsers, and no secret of theirs',
      'api: with the session that runs out: the cron job deletes it, and nobody is notified before',
    ],
    'Technical records': ['api: writes one structured line per request, without personal data'],
    'They never hold what': [
      ...encrypted,
      'api: is read back as it was, no document, and not logged',
    ],
    'Of an attempt to sign in': [
      'api: keeps a number only where it is needed, and the address ${address} nowhere',
      'says: for {rateLimitEventsKeptMs}',
    ],
    'The country of your connection': ['api: is stored, sent to the bot and replied to, in order'],
    'They wait with the message': [
      'api: a message fails after a day, also behind another event that waits',
      'worker/account/delete-expired.ts: parkedMessagesKeptMs = 7 * dayMs',
    ],
    'The language of the page': [
      'api: for a reply is in the language %s and says nothing of the reply',
      'api: stands in the export, and outlives the account',
    ],
    'The log of our service': [
      'api: writes one structured line per request, without personal data',
    ],
    'Lines about a conversation': [
      'api: is told by no line of the log, no row and no size, neither before nor after the account goes',
    ],
    'The log is deleted': ['worker/docs/runbook.md: Workers Logs keeps a line for seven days'],
    'If {app} tells us': [
      'api: by 409, also again, and changes nothing',
      'api: deletes the expired rows of %s, and no others',
    ],
    'When you accepted': [
      'api: leaves its times, given and withdrawn, in the export until the account goes',
    ],
    'Payments are handled': ['browser: one is bought at the payment provider'],
    'We learn whether': ['browser: no other call has a cookie, or a token without need'],
    'Messages travel encrypted': [
      ...encrypted,
      'web/build/site-files.ts: Strict-Transport-Security',
    ],
    'Each conversation on this site': [
      'api: are other ones after the conversation was cleared',
      'api: of another user, and out of its place',
    ],
    'That a reply was about': [
      'api: is told by no line of the log, no row and no size, neither before nor after the account goes',
    ],
    'The companion’s service': ['api: is stored, sent to the bot and replied to, in order'],
    'Login codes and link tokens': [
      'api: holds no secret and no hash',
      'rules: is HMAC-SHA256 under a key that HKDF-SHA256 derives for the purpose',
    ],
    'Nobody at our company': [
      'runbook: nobody reads conversations',
      'operations: never shows the conversation',
    ],
    'If you ask us for help': ['runbook: nobody reads conversations'],
    'Answers are written': ['runbook: The contract with the AI partner'],
    'The partner receives': [
      'operations: asks a model where it has an address, with what was said before',
      'runbook: The bot gives the AI partner',
    ],
    'What you write or say': ['none: asks something of the reader'],
    'The partner processes': ['runbook: The contract with the AI partner'],
    'To provide the service': ['none: claims nothing about the product'],
    'Where the law asks': ['browser: with nothing ticked, and again after its withdrawal'],
    'You withdraw it there': [
      'api: removes the conversation when it is withdrawn',
      'browser: a pending user sees the pending page, can withdraw consent and log out',
    ],
    'Deleting your account withdraws': [...erased],
    'Only those who help us': ['runbook: nobody else receives data'],
    '{app}, to carry': ['api: sends one WhatsApp message to somebody who has written'],
    'our AI partner, for': [
      'operations: asks a model where it has an address, with what was said before',
    ],
    'Stripe, for payments': ['browser: one is bought at the payment provider'],
    'the notice service of your browser': [
      'api: for a reply is in the language %s and says nothing of the reply',
    ],
    'Cloudflare, which runs': [...encrypted, 'wrangler.toml: LIVE_USER'],
    'We hand data': ['runbook: authorities'],
    'Messages on this site, recordings included': [
      'says: kept for {CHAT_RETENTION_DAYS}',
      'api: comes within a day of the days that are set, for the times of cleared messages too',
      'api: is kept as long as messages are, and no longer',
      'worker/live/live-user.ts: const retentionCheckMs = dayMs;',
    ],
    'A session ends after': ['api: refuses a session after its thirty days'],
    'Everything else, withdrawals': [
      'api: deletes the expired rows of %s, and no others',
      ...erased,
    ],
    'We delete an account without': [
      'says: for {ACCOUNT_RETENTION_DAYS}',
      'says: {noticeMs} before',
      'api: is announced to the bot, and deleted 30 days later like one that its user deletes',
    ],
    'When you delete your account': [...erased, 'browser: two tabs and double clicks'],
    'Codes that are made from your number': [
      'says: for {weekMs}',
      'api: keeps a number only where it is needed, and the address ${address} nowhere',
      'api: for a number, ever, also with two links and after the account was deleted',
      'api: leaves nothing of it behind once the week has ended, and nothing without a count',
      'api: keeps a fingerprint of a call of the bot that gives away no number',
      'worker/account/delete-expired.ts: since: botCalls.at, keptMs: 7 * dayMs',
    ],
    'The order to erase its copy': [
      'api: keeps of a deletion that the bot refused neither number nor id, and nothing after 30 days',
      'worker/account/delete-expired.ts: parkedDeletionsKeptMs = 30 * dayMs',
    ],
    'Our providers can restore': [
      'worker/docs/runbook.md: Cloudflare keeps 30 days of each object',
      'worker/docs/runbook.md: Turso keeps every commit for 1 to 90 days',
    ],
    'Payment records stay': ['runbook: payment records'],
    'Wherever you live': ['none: claims nothing about the product'],
    'show you the data': [
      'api: is a JSON attachment with everything that is kept, here and at Stripe',
    ],
    'correct what is wrong': ['runbook: requests about data'],
    'erase it': [...erased],
    'limit or stop': ['runbook: requests about data'],
    'hand it over': [
      'browser: the data is saved as a JSON file, and a download that fails says so once',
    ],
    'On your account page': [
      'browser: the data is saved as a JSON file, and a download that fails says so once',
      'browser: another session can be ended, this one cannot, and logging out everywhere ends both',
      'browser: the deletion says what is lost',
    ],
    'For the rest write': ['runbook: requests about data within 30 days'],
    'You may also complain': ['none: asks something of the reader'],
    'This site sets no cookies': [
      'browser: no other call has a cookie, or a token without need',
      'browser: the strict headers',
    ],
    'Your browser’s storage': [
      'browser: a stored token is used',
      'browser: unsent messages and the draft outlive a reload, and are sent once under their ids',
      'browser: the colours are changed by a button and stored, and the active link looks different',
      'browser: a phone signs in, sees its usage move in two tabs, and logs out of both',
    ],
    '{name} supports well-being': ['none: claims nothing about the product'],
    'It is not meant': ['browser: with nothing ticked, and again after its withdrawal'],
    'When this policy changes': ['runbook: a change of the texts'],
    'Questions and requests': [
      'browser: the home page says what the product is and who is behind it',
    ],
  },
  // /terms
  'terms.terms': {
    'These terms are | Please read them': ['none: is a rule of the agreement'],
    '{name} is an AI companion': ['none: claims nothing about the product'],
    'You talk with': ['browser: after a reload, and keeps nothing else'],
    'Its answers are written | No human being': ['runbook: Software writes every reply'],
    'The approach is | It is an approach | {name} is not a medical | It does not diagnose': [
      'none: claims nothing about the product',
    ],
    'Never delay': ['none: asks something of the reader'],
    '{name} cannot respond': ['none: claims nothing about the product'],
    'If you or someone else': ['none: asks something of the reader'],
    'Crisis lines by country': ['browser: the account, the contact page, the terms and'],
    'You must be at least 18': ['none: is a rule of the agreement'],
    'Your phone number is': [
      'api: opens a session with a three-part token that knows no phone number',
    ],
    'You log in with': ['api: sends one WhatsApp message to somebody who has written'],
    'Keep your phone | Tell us at once': ['none: asks something of the reader'],
    'We may ask new accounts': [
      'api: makes new users wait when it is manual, until the bot approves them',
    ],
    'Every account has': ['says: {planNames}'],
    'Each plan comes': ['browser: four plans stand in order, with price, allowance and voice'],
    'Voice replies are included': [
      'says: from {voicePlan} upward',
      'api: refuses voice where the plan has none',
    ],
    'Your allowance is reset': [
      'says: every {period}',
      'rules: contains the current instant, a whole number of weeks after its anchor',
    ],
    'Messages that you do not': [
      'api: is counted from the first contact and starts at 0 again, also when nothing ran at midnight',
    ],
    'When the allowance': [
      'api: does not count what would pass the limit',
      'api: begins a new, fully paid week, also minutes before the renewal',
    ],
    'Paid plans are': ['api: opens a checkout for %s, and the return brings it'],
    'They are billed weekly': ['api: is paid as soon as it is seen, and opens the new week'],
    'Prices are in US dollars': [
      'api: calculates tax with AUTOMATIC_TAX=on, from the address that Checkout asks for',
    ],
    'Payments are taken': ['browser: one is bought at the payment provider'],
    'We never see or store': ['browser: no other call has a cookie, or a token without need'],
    'If a payment fails': [
      'api: gives no fresh allowance while it is unpaid, nor do the three after it, until the latest is paid',
      'rules: that is %s falls to free',
      'worker/docs/runbook.md: retries for at most two weeks',
    ],
    'Until it succeeds': [
      'api: gives no fresh allowance while it is unpaid, nor do the three after it, until the latest is paid',
      'rules: that is %s falls to free',
    ],
    'If we change a price': ['runbook: a new price'],
    'The new price applies': ['api: lets those who pay the old one change'],
    'We may offer a trial': [
      'api: for a number, ever, also with two links and after the account was deleted',
    ],
    'A trial needs no card': [
      'api: opens the session and grants its plan for its days, by the clock',
    ],
    'When it ends': [
      'api: waits for its end',
      'rules: ignores a trial from the instant of its end',
    ],
    'You can change or cancel': [
      'browser: a dearer plan begins a new week at once, and a cheaper one at the end of the week',
      'browser: from the landing page, signed out, to the end of the subscription',
    ],
    'Cancelling ends the | You keep your plan': [
      'api: ends the plan with its paid week, may be repeated, and may be taken back',
    ],
    'A change to a smaller': [
      'api: undoes a scheduled change first, which a resumption does not restore',
    ],
    'If a payment is overdue': [
      'api: collects nothing more of a payment that is due, until it is taken back',
    ],
    'Until that day': [
      'api: ends the plan with its paid week, may be repeated, and may be taken back',
    ],
    'If you cancel during | The trial itself': ['api: and a resumption restores it'],
    'A move to a larger plan takes': [
      "worker/operations/stripe-setup/stripe-setup.ts: 'none' = 'always_invoice';",
      'browser: a dearer plan begins a new week at once, and a cheaper one at the end of the week',
      'api: begins a new, fully paid week, also minutes before the renewal',
    ],
    'A move to a smaller': [
      'browser: a dearer plan begins a new week at once, and a cheaper one at the end of the week',
    ],
    'There are no refunds': ['none: is a rule of the agreement'],
    'Deleting your account': [...erased, 'browser: two tabs and double clicks'],
    'This cannot be undone': [...erased],
    'Conversations are encrypted': [...encrypted, 'runbook: nobody reads conversations'],
    'To write its answers': [
      'operations: asks a model where it has an address, with what was said before',
      'runbook: The bot gives the AI partner',
    ],
    'The Privacy Policy says': ['none: claims nothing about the product'],
    'Please do not | use the service | try to get around | share, sell | copy, scrape | We may suspend':
      ['none: is a rule of the agreement'],
    'What you write stays | You allow us | The service itself': [
      'none: is a rule of the agreement',
    ],
    'We do our best': ['none: claims nothing about the product'],
    'The service is provided | As far as the law | Nothing in these terms | We may change': [
      'none: is a rule of the agreement',
    ],
    'If a change matters': ['runbook: a change of the texts'],
    'Questions?': ['none: claims nothing about the product'],
    'Write to': ['browser: the home page says what the product is and who is behind it'],
  },
  // /safety
  'help.safety': {
    'What {companion} does | Get help now': ['none: claims nothing about the product'],
    '{companion} is an AI | Software writes': ['runbook: Software writes every reply'],
    '{companion} is for adults | It may not be suitable | {name} is not a crisis': [
      'none: claims nothing about the product',
    ],
    '{companion} is built to notice': [
      'runbook: The bot marks a reply about a crisis',
      'operations: counts, repeats what it reads, and marks a crisis',
    ],
    'The same holds for eating': ['runbook: about an eating disorder included'],
    'In the chat on this site': [
      'browser: opens the help panel with a reply that is marked as a crisis',
    ],
    'You can open the panel': ['browser: help is reached before the app has started'],
    'In {app} no panel': ['none: claims nothing about the product'],
    'This site’s page': ['browser: then the page needs no network'],
    'The page “Get help now” needs': [
      'browser: a visitor gets the lines of the country of the connection',
    ],
    'For 24 hours after': ['api: are the allowance of the week, but for a day after a crisis'],
    'Nobody at {name} | Nobody is watching': ['runbook: nobody reads conversations'],
    '{name} does not call | {companion} can miss': ['none: claims nothing about the product'],
    'A reply can come late': [
      'api: a message fails after a day, also behind another event that waits',
    ],
    'If you need a person': ['none: asks something of the reader'],
    'Each number stands': ['rules: %s keeps every rule'],
    'We show the date': ['rules: says which line and of when'],
    'Where no source': ['rules: says nothing where the sources say nothing'],
    'A country without': [
      'browser: a country without a line gets no number, but the way to others',
    ],
    'We never show': ['rules: gives no neighbour’s line to a country without one'],
    'The numbers are part | It does not ask anybody': ['browser: then the page needs no network'],
    'A number does not work | <contact>': ['none: claims nothing about the product'],
    'Protocol version': ['browser: the page on safety says what Solace'],
  },
  // /safety, in numbers
  'help.referral': {
    'On this site we count': [
      'api: counts a crisis reply when it is read first, and not again by tabs, replays, restarts and later reads',
    ],
    'In {app}, {companion} reports': [
      'runbook: the crisis lines that it names on WhatsApp',
      "api: counts the bot's own once for a webhook-id, as long as the number is known",
    ],
    'We keep a number': ['api: keeps nothing about the person beside the count of the day'],
    'We have counted since': ["web/pages/help/safety-page.tsx: countedSince = '2026-11-23'"],
    '{year}: {count': ['browser: the page on safety says what Solace'],
    '{year}: not counted | {year}, until today | The numbers cannot': [
      'browser: the page on safety says what Solace',
    ],
    'The numbers as data': ['browser: the counts of referrals are open data'],
  },
  // /cancel
  'cancel.cancel.points': {
    'You keep your plan | Nothing is charged': [
      'api: ends the plan with its paid week, may be repeated, and may be taken back',
    ],
    'A change to a smaller': [
      'api: undoes a scheduled change first, which a resumption does not restore',
    ],
    'A plan that was to follow': ['api: and a resumption restores it'],
    'You can change your mind | Your account and your': [
      'api: ends the plan with its paid week, may be repeated, and may be taken back',
    ],
    'You can delete them': [...erased],
  },
  // The consent notice
  'chat-consent.consent': {
    'Please read this': ['browser: with nothing ticked, and again after its withdrawal'],
    '{companion} is an AI': ['runbook: Software writes every reply'],
    'Its replies can be | {companion} is not for | It may not be': [
      'none: claims nothing about the product',
    ],
    'You must be 18': ['none: is a rule of the agreement'],
    'What you write may': ['none: claims nothing about the product'],
    '{name} stores it encrypted': [
      ...encrypted,
      'says: for {CHAT_RETENTION_DAYS}',
      'operations: asks a model where it has an address, with what was said before',
      'runbook: The bot gives the AI partner',
    ],
    'Your name goes along': ['runbook: The bot gives the AI partner'],
    'You can clear': [
      'browser: two tabs show the same conversation, also after it was cleared in one',
      'browser: with nothing ticked, and again after its withdrawal',
    ],
    'I am 18': ['none: is a rule of the agreement'],
    'I agree': ['api: comes before the first message, is versioned'],
    'Start the': ['none: claims nothing about the product'],
    'Please tick': ['browser: with nothing ticked, and again after its withdrawal'],
    'Your consent could | Please try again | Privacy Policy | How {name} handles': [
      'none: claims nothing about the product',
    ],
  },
  // /terms, withdrawing
  'withdrawal-texts.withdrawalTerms': {
    'You can withdraw from a paid plan': [
      'api: everything, where nobody asked to start at once',
      'api: never, where the owner has turned it off',
    ],
    'The period begins': [
      'api: what a move to a dearer plan has cost',
      'api: nothing for a plan that waits for the end of a trial',
      'api: until the end of the last day in UTC-12',
    ],
    'A weekly renewal': [
      'api: all weeks since the contract was concluded, of which a renewal is none',
    ],
    'To withdraw, use': [
      'browser: without the tick everything comes back',
      'browser: signed out, the form takes a statement',
    ],
    'You can also tell us': ['runbook: answers withdrawals'],
    'It is enough': ['rules: the period is never shorter than its days in any time zone'],
    'You receive a confirmation': ['api: has a receipt with its content, date and time'],
    'If you withdraw, the plan ends': ['api: everything, where nobody asked to start at once'],
    'We give back what you have paid': [
      'api: all weeks since the contract was concluded',
      'runbook: answers withdrawals',
    ],
    'What was paid from a credit': ['api: to the balance what was paid from it'],
    'Your account and your conversation stay': ['browser: without the tick everything comes back'],
    'Before you buy': [
      'browser: a review tells what is ordered, and asks unticked whether to begin at once',
    ],
    'If you have asked for it': ['api: the unused time, where the buyer asked to start at once'],
    'If you have not asked | The plan begins': [
      'api: everything, where nobody asked to start at once',
    ],
    'A statement that names a number': [
      'says: after {objectionMs}',
      'api: takes effect by itself when the time to object is over',
      'api: ends nothing when its person objects',
    ],
    'The owner can also confirm | What we give back is computed': [
      'api: takes effect at once when its person confirms it, by the time at which it was made',
    ],
    'This right comes before | You can use this text': ['none: is a rule of the agreement'],
    'To {company} | I withdraw from my contract | Chosen on | Name, phone number | Date, and signature':
      ['none: is a model text'],
  },
  // /privacy, orders and withdrawals
  'withdrawal-texts.withdrawalPrivacy': {
    'With an order we keep': ['api: stands in the export, and outlives the account'],
    'If you withdraw from a contract': [
      'says: {WITHDRAWAL_KEPT_DAYS}',
      'api: stands in the export, and outlives the account',
    ],
    'A statement that you make': [
      'api: responds the same whether or not a number belongs to an account',
    ],
    'If you give an e-mail address': [
      'api: to the address that its person gives: the whole text, once, also for 20 callers',
      'api: can send nobody a word of theirs',
    ],
  },
};
