import { setTimeout as sleep } from 'node:timers/promises';
import { type Choices, Person, type Role } from '../person.ts';
import { type World, pause, Stuck } from '../rig.ts';
import { receiveReply, clearConversation, openChat, reconnectChats, resendFailed, writeOnWeb } from './conversation.ts';
import { Follower } from './streams.ts';
import {
  changePlan,
  readProfile,
  write,
  deleteAccount,
  logOut,
  changePlatform,
  reportContact,
  signIn,
  startTrial,
} from './acts.ts';

const places = 20;
const shares: Record<Role, number> = { talker: 6, writer: 6, subscriber: 6, visitor: 2 };

/** Runs so many users concurrently until the end; a new one replaces each that leaves. */
export async function fillWithPeople(world: World, choices: Choices): Promise<void> {
  const newcomer = () => {
    const person = new Person(world.people.length, choices.weighted<Role>(shares), choices.fork());
    world.people.push(person);
    return person;
  };
  const place = async (index: number) => {
    await sleep(index * 200);
    while (!world.closing.aborted) await runJourney(world, newcomer());
  };
  await Promise.all(Array.from({ length: places }, (_, index) => place(index)));
}

type Chat = 'write on the web' | 'receive a reply' | 'reconnect' | 'resend' | 'clear';
type Action = 'write' | 'plan' | 'platform' | 'sign in' | 'log out' | 'reload' | 'readProfile' | 'leave' | Chat;

const actions: Record<Action, (world: World, person: Person) => Promise<void> | void> = {
  write,
  plan: changePlan,
  platform: changePlatform,
  'sign in': signIn,
  'log out': logOut,
  reload: (_, { followers, choices }) => choices.pick(followers).stream.disconnect(),
  readProfile,
  leave: deleteAccount,
  'write on the web': writeOnWeb,
  'receive a reply': receiveReply,
  reconnect: (_, person) => reconnectChats(person),
  resend: resendFailed,
  clear: clearConversation,
};

const weights: Record<Person['role'], Partial<Record<Action, number>>> = {
  talker: { write: 10, platform: 1, 'sign in': 0.5, 'log out': 0.3, reload: 0.5, readProfile: 1, leave: 0.15 },
  writer: {
    'write on the web': 10,
    'receive a reply': 4,
    reconnect: 1.5,
    resend: 1,
    clear: 0.15,
    write: 1,
    'sign in': 0.3,
    'log out': 0.3,
    readProfile: 1,
    leave: 0.2,
  },
  subscriber: { plan: 6, write: 5, platform: 1, readProfile: 2, 'log out': 0.2, reload: 0.3, leave: 0.3 },
  visitor: { 'sign in': 4, 'log out': 1, readProfile: 3, platform: 2, write: 1, reload: 1, leave: 0.3 },
};

/** One user: signs up, opens one or two tabs, and makes random actions until the end or their own limit. */
async function runJourney(world: World, person: Person): Promise<void> {
  try {
    await begin(world, person);
    for (let left = person.choices.between(8, 70); left > 0 && !person.left && !world.closing.aborted; left -= 1) {
      const action = person.choices.weighted<Action>(weights[person.role]);
      person.doing = action;
      await actions[action](world, person);
      person.doing = undefined;
      await pause(world, person.choices.between(200, 1200));
    }
  } catch (error) {
    if (!(error instanceof Stuck)) world.seen.push(`${person.phone} at ${person.doing}: ${String(error)}`);
  }
}

async function begin(world: World, person: Person): Promise<void> {
  const { choices, role } = person;
  person.doing = 'first contact';
  await reportContact(world, person);
  person.doing = 'first sign-in';
  await signIn(world, person);
  for (let tabs = choices.between(1, 2); tabs > 0; tabs -= 1) person.followers.push(new Follower(world, person));
  person.doing = 'trial';
  if (role === 'talker' || role === 'writer') await startTrial(world, person, 'platinum');
  if (role === 'writer') await openChat(world, person);
  if (role === 'subscriber' && choices.chance(0.4)) await startTrial(world, person, 'premium');
  person.doing = undefined;
}
