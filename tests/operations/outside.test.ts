import { expect, it } from 'vitest';
import { problemsOutside } from '../../worker/operations/doctor/outside.ts';
import { startTestProduct } from './test-product.ts';

const { siteUrl } = await startTestProduct();

it('nothing stands between the running product and its callers', async () => {
  expect(await problemsOutside(siteUrl)).toEqual([]);
});

it('a site that does not answer has no problems to name', async () => {
  expect(await problemsOutside('http://127.0.0.1:1')).toBeNull();
});
