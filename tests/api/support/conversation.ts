import { env } from 'cloudflare:workers';
import type { Env } from '../../../worker/env.ts';
import { userOf } from './person.ts';

/** The Durable Object that holds the user's conversation. */
export const conversationOf = (token: string) => (env as unknown as Env).CONVERSATION.getByName(userOf(token));
