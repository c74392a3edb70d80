import { setTimeout as sleep } from 'node:timers/promises';
import { type Choices, Person, type Role } from '../person.ts';
import { callUntilTaken, type World, pause, Stuck } from '../rig.ts';
import { changePlan, write, deleteAccount, logOut, changePlatform, reportContact, signIn, startTrial } from './acts.ts';
import { receiveReply, clearConversation, openChat, resendFailed, writeOnWeb } from './conversation.ts';
import { Follower } from './streams.ts';

const shares: Record<Role, number> = { talker: 6, writer: 6, subscriber: 6, visitor: 2 };

export async function fillWithPeople(world: World, choices: Choices): Promise<void> {
  const place = async (index: number) => {
    await sleep(index * 200);
    while (!world.closing.aborted) {
      const person = new Person(world.people.length, choices.weighted<Role>(shares), choices.fork());
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
  talker: { write: 10, platform: 1, 'sign in': 0.5, 'log out': 0.3, reload: 0.5, 'read profile': 1, leave: 0.15 },
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
  subscriber: { plan: 6, write: 5, platform: 1, 'read profile': 2, 'log out': 0.2, reload: 0.3, leave: 0.3 },
  visitor: { 'sign in': 4, 'log out': 1, 'read profile': 3, platform: 2, write: 1, reload: 1, leave: 0.3 },
};

async function runJourney(world: World, person: Person): Promise<void> {
  const { choices } = person;
  try {
    await begin(world, person);
    for (let left = choices.between(8, 70); left > 0 && !person.left && !world.closing.aborted; left -= 1) {
      const action = choices.weighted(weights[person.role]);
      person.doing = action;
      await actions[action](world, person);
      person.doing = undefined;
      await pause(world, choices.between(200, 1200));
    }
  } catch (error) {
    if (!(error instanceof Stuck)) world.seen.push(`${person.phone} at ${person.doing}: ${String(error)}`);
  }
}

async function begin(world: World, person: Person): Promise<void> {
  const { choices, role } = person;
  person.doing = 'sign-up';
  await reportContact(world, person);
  await signIn(world, person);
  for (let tabs = choices.between(1, 2); tabs > 0; tabs -= 1) person.followers.push(new Follower(world, person).open());
  person.doing = 'trial';
  if (role === 'talker' || role === 'writer') await startTrial(world, person, 'platinum');
  if (role === 'writer') await openChat(world, person);
  if (role === 'subscriber' && choices.chance(0.4)) await startTrial(world, person, 'premium');
  person.doing = undefined;
}
