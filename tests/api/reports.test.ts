import { expect, it } from 'vitest';
import { call } from './support/api.ts';
import { newPhone } from './support/contacts.ts';

/** Public reports of other products, each of which would hurt here: the project and the number of its report. */

it('elizaOS/eliza 23671, nanocoai/nanoclaw 1009: half a character, as a cut emoji leaves it, loses no statement', async () => {
  const name = 'Ada \u{1f98a}'.slice(0, -1);
  const { status, body } = await call('POST', '/api/withdrawals', {
    body: { name, contact: newPhone() },
  });
  expect(status).toBe(200);
  expect(body.receipt).toContain('Ada \ufffd');
});
