import { describe, expect, it } from 'vitest';
import { failureText, proxyHint } from '../../worker/operations/failure-text.ts';

describe('what failed', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), {
    code: 'ECONNREFUSED',
  });
  const sql = 'Failed query: select "id" from "users" where "phone" = ? params: +15551234567';

  it('is the cause of a failed query, without its SQL and its numbers', () => {
    const query = new Error(sql, { cause: new Error('fetch failed', { cause: refused }) });
    expect(failureText(query)).toBe(
      'The database did not answer: connect ECONNREFUSED 127.0.0.1:9 (ECONNREFUSED)',
    );
    expect(failureText(new Error(sql, { cause: new Error('no row +15551234567') }))).toBe(
      'The database did not answer: no row …',
    );
    expect(failureText(new Error(sql))).toBe('The database did not answer.');
  });

  it('is the sentence of any other error', () => {
    expect(failureText(new Error('Port 8787 is taken.', { cause: refused }))).toBe(
      'Port 8787 is taken.',
    );
    expect(failureText('gone')).toBe('gone');
  });
});

describe('a proxy', () => {
  it.each([
    [{}, null],
    [{ HTTP_PROXY: '' }, null],
    [{ HTTP_PROXY: 'http://proxy:9', NO_PROXY: '*' }, null],
    [{ https_proxy: 'http://proxy:9', no_proxy: 'a.example, localhost,127.0.0.1,::1' }, null],
  ])('is in nobody’s way with %o', (environment, hint) => {
    expect(proxyHint(environment)).toBe(hint);
  });

  it.each([
    [{ HTTP_PROXY: 'http://proxy:9' }, 'HTTP_PROXY', 'localhost,127.0.0.1,::1'],
    [
      { all_proxy: 'http://proxy:9', NO_PROXY: 'localhost' },
      'ALL_PROXY',
      'localhost,127.0.0.1,::1',
    ],
    [
      { https_proxy: 'x', no_proxy: 'a.example' },
      'HTTPS_PROXY',
      'a.example,localhost,127.0.0.1,::1',
    ],
  ])('is named with what to do for %o', (environment, name, exempt) => {
    expect(proxyHint(environment)).toMatch(
      new RegExp(`^${name} is set, and NO_PROXY leaves out .* Run .export NO_PROXY=${exempt}. and`),
    );
  });
});
