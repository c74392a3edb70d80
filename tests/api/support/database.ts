import { createClient } from '@libsql/client/web';
import { vars } from './api.ts';

/** Direct access to the database, for facts and states that the API does not offer. */
export const database = createClient({ url: vars.TURSO_DATABASE_URL!, authToken: vars.TURSO_AUTH_TOKEN! });
