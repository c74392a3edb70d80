import { createClient } from '@libsql/client/web';
import { vars } from './api.ts';

/** A look inside, for what the front door cannot show or bring about. */
export const database = createClient({ url: vars.TURSO_DATABASE_URL!, authToken: vars.TURSO_AUTH_TOKEN! });
