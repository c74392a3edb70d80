import { botCall, call, runCron } from './api.ts';
import { write } from './chat.ts';
import { advanceClock, minute } from './clock.ts';
import { redeem, requestOtp } from './codes.ts';
import { contact } from './contacts.ts';
import { externalSession } from './person.ts';
import { run, sandbox } from './sandbox.ts';
import type { Known, Stage } from './tampers.ts';

type Read = readonly [method: 'GET', path: string];

const reads: readonly Read[] = [
  ['GET', '/api/user/me'],
  ['GET', '/api/user/chat'],
  ['GET', '/api/user/export'],
  ['GET', '/api/user/sessions'],
  ['GET', '/api/user/platform'],
  ['GET', '/api/billing/withdrawal'],
];

const privateReads: readonly Read[] = reads.slice(1, 3);

export async function readAll(token: string | undefined, which: readonly Read[] = reads) {
  if (!token) return [];
  const responses = await Promise.all(which.map(([method, path]) => call(method, path, { token })));
  return responses.map(({ text }) => text);
}

/** After messages of these names, in turn. */
export async function signIn(phone: string, written: object[]): Promise<string | undefined> {
  await run('delete from rate_limit_events');
  for (const names of written) await contact(names);
  const { body } = await requestOtp(phone);
  if (!body.challenge) return undefined;
  const code = (await sandbox.messages(phone)).findLast((message) => message.code)?.code;
  return (
    await redeem({
      phone,
      otp: code!,
      challenge: body.challenge,
    })
  ).body.token;
}

/** By a code at once, and by a token after messages of another id. */
export async function inherit({ phone, businessUserId }: Stage['heir']): Promise<string[]> {
  const atOnce = await readAll(await signIn(phone, []), privateReads);
  const both = { phone, businessUserId };
  for (const names of [both, both, { businessUserId }]) await contact(names);
  const later = await readAll(await externalSession(phone), privateReads);
  return [...atOnce, ...later];
}

async function asBot(names: object): Promise<string[]> {
  const paths = ['usage', 'entitlements', 'typing', 'voice'];
  const id = crypto.randomUUID();
  const answers = await Promise.all(
    paths.map((path) =>
      botCall(
        `/api/bot/${path}`,
        path === 'voice'
          ? {
              ...names,
              id,
            }
          : names,
      ),
    ),
  );
  return answers.map(({ text }) => text);
}

/** How many events the bot has had, as far as is known. */
let events = 0;

/** Everything that the thief sees, and what the bot learns meanwhile. */
async function attack({ thief, sim }: Stage) {
  advanceClock(2 * minute);
  const before = events + (await sandbox.botEvents({ from: events })).length;
  const open = await readAll(thief.token);
  await write(thief.token, 'What did I tell you?');
  const numbers = [thief, sim] as const;
  const signedIn = await Promise.all(
    numbers.map(async ({ phone, businessUserId }) => {
      const token = await signIn(phone, [{ phone, businessUserId }, { phone }]);
      const read = await readAll(token);
      if (token) await write(token, 'What did I tell you last?');
      return read;
    }),
  );
  const { body } = await call('POST', '/auth/verify-trial-token', {
    body: { trialToken: thief.trialToken },
  });
  const byLink = await readAll(body.token);
  const byBot = await Promise.all(
    numbers.flatMap(({ phone, businessUserId }) => [asBot({ phone }), asBot({ businessUserId })]),
  );
  await sandbox.faults({ bot: null });
  await run('update outbox set due_at = 0, leased_until = 0 where parked_at is null');
  await runCron();
  const told = await sandbox.botEvents({ from: before });
  events = before + told.length;
  const phones = await Promise.all(numbers.map(({ phone }) => sandbox.messages(phone)));
  return {
    seen: [open, signedIn, byLink, byBot, phones].flat(3).map((each) => JSON.stringify(each)),
    told,
  };
}

const marksOf = ({ phone, userId, businessUserId, texts, address }: Known) => [
  phone.slice(1),
  userId,
  businessUserId,
  ...texts,
  address,
];

const isOf = (text: string, marks: string[]) => marks.filter((mark) => text.includes(mark));

/** A limited session tells whose it is, and no more. */
export async function leaksToHeir({ victim, heir }: Stage): Promise<string[]> {
  advanceClock(minute);
  const secret = [victim.businessUserId, victim.address, ...victim.texts];
  const inherited = await inherit(heir);
  return inherited.flatMap((text) => isOf(text, secret).map((mark) => `inherited: ${mark}`));
}

/** What a tamper has shown: of the victim to the thief, or of one under the name of the other. */
export async function leaksOf(staged: Stage): Promise<string[]> {
  const { victim, thief, sim } = staged;
  const { seen, told } = await attack(staged);
  const theirs = marksOf(victim);
  const own = [...marksOf(thief), sim.phone.slice(1), sim.businessUserId];
  const mixed = told.flatMap((event) => {
    const text = JSON.stringify(event);
    const [found, others] = [isOf(text, theirs), isOf(text, own)];
    return found.length > 0 && others.length > 0
      ? [`bot: ${[...found, ...others].join()}: ${text}`]
      : [];
  });
  const read = seen.flatMap((text) => isOf(text, theirs).map((mark) => `read: ${mark}`));
  return [...new Set([...read, ...mixed, ...(await leaksToHeir(staged))])];
}
