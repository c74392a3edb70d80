import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'turso',
  schema: ['./drizzle/schema.ts', './drizzle/replaced-tables.ts'],
  out: './drizzle/migrations',
});
