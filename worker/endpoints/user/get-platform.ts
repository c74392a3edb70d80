import type { Handler } from '../../http/handler.ts';

export const getPlatform: Handler<'getPlatform'> = async ({ session }) =>
  session.run([], (user) => ({ success: true, platform: user.platform }));
