import type { Handler } from '../http/call.ts';

export const getPlatform: Handler<'getPlatform'> = async ({ caller }) => {
  const [user] = await caller.load();
  return { success: true, platform: user.platform };
};
