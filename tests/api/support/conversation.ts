import { env } from 'cloudflare:workers';
import type { Env } from '../../../worker/env.ts';
import { userOf } from './person.ts';

/** The live object of the user. */
export const liveUserOf = (token: string) => (env as unknown as Env).LIVE_USER.getByName(userOf(token));
