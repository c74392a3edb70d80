import { setTimeout as sleep } from 'node:timers/promises';
import { paidPlanIds } from '../../../worker/contract/plans.ts';
import { type Choices, Person, type Role } from '../person.ts';
import {
  callUntilTaken,
  type World,
  pause,
  Stuck,
  isNotNow,
  type Rig,
  untilTaken,
} from '../rig.ts';
import {
  receiveReply,
  clearConversation,
  openChat,
  resendFailed,
  writeOnWeb,
  sendMessage,
} from './conversation.ts';
import { Follower } from './streams.ts';

const shares: Record<Role, number> = {
  talker: 6,
  writer: 6,
  subscriber: 6,
  visitor: 2,
};

export async function fillWithPeople(world: World, choices: Choices): Promise<void> {
  const place = async (index: number) => {
    await sleep(index * 200);
    while (!world.closing.aborted) {
      const person = new Person(
        world.people.length,
        choices.weighted<Role>(shares),
        choices.fork(),
      );
      world.people.push(person);
      await runJourney(world, person);
    }
  };
  await Promise.all(Array.from({ length: 20 }, (_, index) => place(index)));
}

const actions = {
  write,
  plan: changePlan,
  platform: changePlatform,
  'sign in': signIn,
  'log out': logOut,
  reload: (_: World, { followers, choices }: Person) => choices.pick(followers).disconnect(),
  'read profile': (world: World, person: Person) => callUntilTaken(world, person, 'getMe'),
  leave: deleteAccount,
  'write on the web': writeOnWeb,
  'receive a reply': receiveReply,
  // The network of the device changes: every chat stream breaks and is resumed.
  reconnect: (_: World, { chats }: Person) => chats.forEach((chat) => chat.disconnect()),
  resend: resendFailed,
  clear: clearConversation,
};

const weights: Record<Role, Partial<Record<keyof typeof actions, number>>> = {
  talker: {
    write: 10,
    platform: 1,
    'sign in': 0.5,
    'log out': 0.3,
    reload: 0.5,
    'read profile': 1,
    leave: 0.15,
  },
  writer: {
    'write on the web': 10,
    'receive a reply': 4,
    reconnect: 1.5,
    resend: 1,
    clear: 0.15,
    write: 1,
    'sign in': 0.3,
    'log out': 0.3,
    'read profile': 1,
    leave: 0.2,
  },
  subscriber: {
    plan: 6,
    write: 5,
    platform: 1,
    'read profile': 2,
    'log out': 0.2,
    reload: 0.3,
    leave: 0.3,
  },
  visitor: {
    'sign in': 4,
    'log out': 1,
    'read profile': 3,
    platform: 2,
    write: 1,
    reload: 1,
    leave: 0.3,
  },
};

async function runJourney(world: World, person: Person): Promise<void> {
  const { choices } = person;
  try {
    await begin(world, person);
    for (
      let left = choices.between(8, 70);
      left > 0 && !person.left && !world.closing.aborted;
      left -= 1
    ) {
      const action = choices.weighted(weights[person.role]);
      person.doing = action;
      await actions[action](world, person);
      person.doing = undefined;
      await pause(world, choices.between(200, 1200));
    }
  } catch (error) {
    if (!(error instanceof Stuck))
      world.seen.push(`${person.phone} at ${person.doing}: ${String(error)}`);
  }
}

async function begin(world: World, person: Person): Promise<void> {
  const { choices, role } = person;
  person.doing = 'sign-up';
  await reportContact(world, person);
  await signIn(world, person);
  for (let tabs = choices.between(1, 2); tabs > 0; tabs -= 1)
    person.followers.push(new Follower(world, person).open());
  person.doing = 'trial';
  if (role === 'talker' || role === 'writer') await startTrial(world, person, 'platinum');
  if (role === 'writer') await openChat(world, person);
  if (role === 'subscriber' && choices.chance(0.4)) await startTrial(world, person, 'premium');
  person.doing = undefined;
}

export async function reportContact(world: World, person: Person): Promise<void> {
  const [id, body] = [person.nextId('contact'), { phone: person.phone }];
  await untilTaken(world, person, () => world.site.bot('botContacts', id, body));
}

export async function signIn(world: World, person: Person): Promise<void> {
  let wroteAt: number | undefined;
  for (;;) {
    const code = await receiveCode(world, person);
    const token = code && (await redeem(world, person, code));
    if (token) {
      person.signedIn(token);
      if (wroteAt !== undefined)
        world.figures.refusals.push({
          phone: person.phone,
          ms: performance.now() - wroteAt,
        });
      return;
    }
    // Others may have reached the limits of this number; a message to the assistant clears them.
    await reportContact(world, person);
    wroteAt ??= performance.now();
    await pause(world, person.choices.between(300, 900));
  }
}

/** The code that arrives, even if the response does not confirm it. */
async function receiveCode(world: World, person: Person): Promise<string | null> {
  const { site, seen } = world;
  const known = (await codesOn(world, person)).length;
  const answer = await site.call('requestOtp', {
    body: { phone: person.phone },
    address: person.address(),
  });
  if (answer.body.requiresInitialContact)
    seen.push(`${person.phone} wrote to the assistant and is not known`);
  if (answer.status === 429) return null;
  for (let tries = 0; tries < 10; tries += 1) {
    const codes = await codesOn(world, person);
    if (codes.length > known) return codes.at(-1)!;
    await pause(world, 150);
  }
  return null;
}

async function codesOn({ rig }: World, { phone }: Person): Promise<string[]> {
  const messages = await rig.control<{ code?: string }[]>(
    'GET',
    `/phones/${encodeURIComponent(phone)}/messages`,
  );
  return messages.flatMap(({ code }) => code ?? []);
}

async function redeem(world: World, person: Person, otp: string): Promise<string | undefined> {
  const [key, body] = [`${person.codes.size}:${otp}`, { phone: person.phone, otp }];
  person.codes.set(key, 0);
  const once = async () => {
    const { status, body: session } = await untilTaken(world, person, () =>
      world.site.call('verifyOtp', { body, address: person.address() }),
    );
    if (status === 200) person.codes.set(key, person.codes.get(key)! + 1);
    return session.token as string | undefined;
  };
  const tokens = await Promise.all(person.choices.chance(0.3) ? [once(), once()] : [once()]);
  return tokens.find(Boolean);
}

/** A successful response to the call that ended the session may have been lost. */
const expected = [200, 401];

async function logOut(world: World, person: Person): Promise<void> {
  const { token, sessions } = person;
  const body = { everywhere: person.choices.chance(0.3) };
  // From now on, their calls may get 401.
  for (const each of body.everywhere ? [...sessions] : [token!]) sessions.delete(each);
  await callUntilTaken(world, person, 'logout', { body, expected });
  await callUntilTaken(world, person, 'getMe', {
    token,
    expected: [401],
  });
  await signIn(world, person);
}

/** Deletes the account while other tabs and the bot still make calls. */
async function deleteAccount(world: World, person: Person): Promise<void> {
  const { choices, conversation, token } = person;
  const doings = [
    async () => (conversation.consented ? sendMessage(world, person) : undefined),
    () => write(world, person),
    () => buyAtOnce(world, person),
    () =>
      world.site.call('putPlatform', {
        token,
        body: { platform: 'web' },
      }),
  ];
  person.left = true;
  const others = doings.filter(() => choices.chance(0.4)).map((doing) => doing());
  await callUntilTaken(world, person, 'deleteMe', { expected });
  await Promise.all(others);
  for (const tab of person.tabs) tab.close();
}

async function buyAtOnce({ site }: World, { choices, token }: Person): Promise<void> {
  const body = { tier: choices.pick(paidPlanIds) };
  const { portalUrl } = (
    await site.call('createSubscriptionUpdateSession', {
      token,
      body,
    })
  ).body;
  if (portalUrl?.includes('/checkout/')) await submit(portalUrl, {});
}

/** Chooses the other platform, so that every successful call is one event for the bot. */
async function changePlatform(world: World, person: Person): Promise<void> {
  const platform = (person.platforms.at(-1) ?? 'whatsapp') === 'whatsapp' ? 'web' : 'whatsapp';
  const answer = await callUntilTaken(world, person, 'putPlatform', { body: { platform } });
  if (answer.status === 200) person.platforms.push(platform);
}

async function startTrial(world: World, person: Person, tier: string): Promise<void> {
  const { phone } = person;
  const [id, order] = [
    person.nextId('trial'),
    {
      phone,
      tier,
      days: 7,
    },
  ];
  const { body, code } = await untilTaken(world, person, () =>
    world.site.bot('botTrials', id, order),
  );
  if (!body.url) {
    world.seen.push(`${phone} got no trial: ${code}`);
    return;
  }
  const trialToken = new URL(body.url).searchParams.get('token');
  const options = {
    token: undefined,
    address: person.address(),
    phone,
    expected,
  };
  await callUntilTaken(world, person, 'verifyTrialToken', {
    ...options,
    body: { trialToken },
  });
  person.trials += 1;
}

/** The product opens 20 plan pages an hour for each person, repeated calls included. */
const mostPlanPages = 12;

async function changePlan(world: World, person: Person): Promise<void> {
  if (person.planPages >= mostPlanPages) return;
  person.planPages += 1;
  const { choices } = person;
  const tier = choices.pick(paidPlanIds);
  const { status, body } = await callUntilTaken(world, person, 'createSubscriptionUpdateSession', {
    body: { tier },
    // Calls whose response a fault took count too.
    expected: [200, 429],
  });
  if (status !== 200) return;
  if (new URL(body.portalUrl).pathname.startsWith('/checkout/'))
    return buy(world, person, body.portalUrl);
  await press(world.rig, body.portalUrl, choices, {
    switch: 5,
    cancel: 2,
    keep: 3,
    release: 2,
    card: 1,
  });
  await callUntilTaken(world, person, 'getMe');
}

/** Pays, and usually returns to the site; otherwise the plan depends on Stripe's events alone. */
async function buy(world: World, person: Person, url: string): Promise<void> {
  const { choices } = person;
  if (choices.chance(0.1)) return;
  const sessionId = sessionIn(await submit(url, {}));
  if (!sessionId) return;
  person.checkouts += 1;
  if (choices.chance(0.3)) return;
  await callUntilTaken(world, person, 'verifyCheckoutSession', { body: { sessionId } });
}

/** Presses a button of the portal. Not every one exists in every state; the portal refuses the others. */
export async function press(
  { tiers }: Rig,
  url: string,
  choices: Choices,
  buttons: Record<string, number>,
) {
  const button = choices.weighted(buttons);
  const form = { price: choices.pick([...tiers.keys()]) };
  await submit(`${url.split('?')[0]}/${button}`, button === 'switch' ? form : {});
}

export function submit(url: string, form: Record<string, string>): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    body: new URLSearchParams(form),
    redirect: 'manual',
  });
}

export function sessionIn(response: Response): string | null {
  const location = response.headers.get('location');
  return location && new URL(location).searchParams.get('session_id');
}

async function write(world: World, person: Person): Promise<void> {
  const { choices } = person;
  const atOnce = choices.chance(0.25) ? choices.between(2, 5) : 1;
  await Promise.all(Array.from({ length: atOnce }, () => post(world, person)));
}

async function post(world: World, person: Person): Promise<void> {
  const { choices, phone } = person;
  const id = person.nextId('use');
  const body = { phone, count: choices.between(1, 3) };
  const send = (hangUpMs?: number) => world.site.bot('botUsage', id, body, hangUpMs);
  const again = choices.chance(0.1);
  if (choices.chance(0.1)) await send(choices.between(2, 40));
  const answer = await untilTaken(world, person, send);
  if (answer.status !== 200) {
    world.seen.push(`usage post ${id} was refused: ${answer.code}`);
    return;
  }
  const { allowed, used, resetsAt } = answer.body;
  person.posts.push({
    id,
    count: body.count,
    allowed,
    used,
    resetsAt,
  });
  if (!again) return;
  const second = await send();
  const [one, other] = [answer, second].map(({ body }) => JSON.stringify(body));
  if (!isNotNow(second) && one !== other)
    world.seen.push(`usage post ${id} was answered ${one}, then ${other}`);
}
