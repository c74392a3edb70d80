import { expect, it } from 'vitest';
import { send } from './support/api.ts';
import { costOf } from './support/sandbox.ts';

it.each([
  ['NZ', 'NZ'],
  ['XX', null],
  ['T1', null],
  ['nz', null],
  ['<b>', null],
  ['', null],
])('says where the connection comes from (%s), and asks the database for nothing', async (header, country) => {
  const { result, stats } = await costOf(() => send('/api/country', { headers: { 'cf-ipcountry': header } }));
  expect(await result.json()).toEqual({ success: true, country });
  expect(stats.libsql).toBe(0);
});
