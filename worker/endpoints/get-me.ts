import type { Handler } from '../http/call.ts';
import { profileOf } from '../usage/profile.ts';

export const getMe: Handler<'getMe'> = async ({ caller, now }) => {
  const [user] = await caller.load();
  return { success: true, profile: profileOf(user, now) };
};
