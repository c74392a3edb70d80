import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { noticeMs } from '../../worker/account/account-retention.ts';
import { messageLifetimeMs } from '../../worker/bot/delivery-rules.ts';
import * as chat from '../../worker/contract/chat-limits.ts';
import { plans } from '../../worker/contract/plans.ts';
import { sessionLifetimeMs } from '../../worker/identity/open-session.ts';
import { dayMs, hourMs, minuteMs } from '../../worker/lib/time.ts';
import { SettingRules } from '../../worker/setting-rules.ts';
import { linkCodeLifetimeMs } from '../../worker/sign-in/code-secrets.ts';
import { ticketLifetimeSeconds } from '../../worker/sign-in/session-token.ts';
import { objectionMs } from '../../worker/withdrawal/withdrawal-right.ts';

const count = (value: number) => value.toLocaleString('en');
const word = (value: number) =>
  ['no', 'one', 'two', 'three', 'four', 'five', 'six'][value] ?? String(value);
const dollars = (cents: number) => `$${(cents / 100).toFixed(2)}`;
const aMessage = ({ weeklyCents, messageLimit }: (typeof plans)['basic']) =>
  `$${(weeklyCents / 100 / messageLimit!).toFixed(4)}`;

/** A number that a file keeps for itself. */
function numberIn(file: string, name: string): number {
  const found = new RegExp(`const ${name} = ([\\d_]+);`).exec(readFileSync(file, 'utf8'))?.[1];
  return Number(found!.replaceAll('_', ''));
}

type Numeric = 'CHAT_RETENTION_DAYS' | 'CODE_BUDGET_PER_DAY' | 'WITHDRAWAL_DAYS' | 'CODE_TRIES';
const setting = (name: Numeric | 'CODE_LIFETIME_SECONDS') =>
  v.parse(SettingRules.entries[name], undefined);
type Limiting =
  | 'LIMIT_CODES_PER_NUMBER'
  | 'LIMIT_CODES_PER_NUMBER_HARD'
  | 'LIMIT_WRONG_TRIES_PER_NUMBER'
  | 'LIMIT_CODES_PER_ADDRESS'
  | 'LIMIT_CODE_REQUESTS_PER_ADDRESS'
  | 'LIMIT_TRIES_PER_ADDRESS';
const most = (name: Limiting) =>
  v.parse(SettingRules.entries[name], undefined).map((each) => each.most);

const [, anHour, aDay] = most('LIMIT_CODES_PER_NUMBER');
const ceiling = most('LIMIT_CODES_PER_NUMBER_HARD')[0]!;
const tries = setting('CODE_TRIES');
const codeMinutes = setting('CODE_LIFETIME_SECONDS') / 60;
const guesses = ceiling * 2 * tries;
const timeoutSeconds = numberIn('worker/bot/post-event.ts', 'timeoutMs') / 1000;
const retention = setting('CHAT_RETENTION_DAYS');
const recordingBytes = count(chat.largestRecordingBytes);

/** Sentences of documents whose numbers are constants of the code. */
export const facts: Record<string, string[]> = {
  'README.md': [`1 of ${plans.free.messageLimit} messages`],
  '.github/SECURITY.md': [
    `is valid for ${word(codeMinutes)} minutes and allows ${word(tries)} tries`,
  ],
  'worker/docs/bot-api.md': [
    `up to ${count(chat.longestReply)} UTF-16 units`,
    `the base64 of at most ${recordingBytes} bytes`,
    `\`seconds\` (up to ${chat.longestRecordingSeconds})`,
    `none within ${timeoutSeconds} s, a redirect`,
    `a message fails after ${messageLifetimeMs / hourMs} hours`,
    `at most ${numberIn('worker/bot/outbox.ts', 'mostWaiting')} events of an account wait`,
    `wrong, used or older than ${linkCodeLifetimeMs / minuteMs} minutes`,
    `Messages are stored encrypted, ${retention} days long`,
  ],
  'worker/docs/asvs.md': [
    `${anHour} an hour, ${aDay} a day, never more than ${ceiling} a day`,
    `${tries} tries a code, ${most('LIMIT_WRONG_TRIES_PER_NUMBER')[0]} wrong tries a day`,
    `${most('LIMIT_CODES_PER_ADDRESS')[0]} codes and ${most('LIMIT_CODE_REQUESTS_PER_ADDRESS')[0]} requests an hour`,
    `${most('LIMIT_TRIES_PER_ADDRESS')[0]} tries in 5 minutes`,
    `${count(setting('CODE_BUDGET_PER_DAY'))} codes a day for the whole service`,
    `guessed at ${guesses} times a day at most`,
    `${sessionLifetimeMs / dayMs} days; any number`,
    `a ticket of ${ticketLifetimeSeconds} s`,
    `within a day after ${retention} days`,
  ],
  'worker/docs/cost.md': [
    `\`CHAT_RETENTION_DAYS\` (${retention})`,
    `A weekly payment of ${dollars(plans.basic.weeklyCents)}`,
  ],
  'worker/docs/billing-faults.md': [
    `${aMessage(plans.basic)} (Basic), ${aMessage(plans.premium)} (Premium) and ${aMessage(plans.platinum)} (Platinum)`,
  ],
  'worker/docs/runbook.md': [
    `after ${sessionLifetimeMs / dayMs} days, the life of a session`,
    `\`WITHDRAWAL_DAYS\` is ${setting('WITHDRAWAL_DAYS')}`,
  ],
  'worker/docs/decisions/0003-codes-by-whatsapp.md': [
    `Callers get ${ceiling - numberIn('worker/sign-in/code-limits.ts', 'keptForLinkCodes')} of a number's ${ceiling} daily codes`,
    `guessed at ${guesses} times a day at most`,
  ],
  'worker/docs/decisions/0019-unused-accounts.md': [`; ${noticeMs / dayMs} days later`],
  'worker/docs/decisions/0029-withdrawal.md': [
    `takes effect after ${word(objectionMs / dayMs)} days`,
  ],
};
