import { useQuery } from '@tanstack/react-query';
import * as v from 'valibot';
import { css } from '#styled/css';
import { withdrawWords } from '#words/withdraw';
import { request } from '../../data/api-client.ts';
import { queryClient } from '../../data/query-client.ts';
import { TextField } from '../../ui/form-fields.tsx';

const Email = v.pipe(v.string(), v.email(), v.maxLength(254));

/** The rule of an address; missing where nobody is asked for one. */
export const EmailRule = v.optional(
  v.pipe(
    v.string(),
    v.trim(),
    v.check((text) => text === '' || v.is(Email, text), withdrawWords.emailRule),
  ),
);

const form = {
  queryKey: ['withdrawal-form', null],
  queryFn: () => request('getWithdrawalForm'),
  staleTime: Infinity,
  meta: { silent: true },
};

/** Where the receipt goes as well, unless the server says that it sends no mails. */
export function EmailField({ error }: { error: string | undefined }) {
  const { data } = useQuery(form, queryClient);
  if (data?.email === false) return null;

  return (
    <div className={data ? '' : reserved}>
      <TextField
        name="email"
        type="email"
        autoComplete="email"
        label={withdrawWords.email}
        hint={withdrawWords.emailHint}
        error={error}
        maxLength={254}
      />
    </div>
  );
}

/** Keeps its place until the server has responded: otherwise the button would move while it is pressed. */
const reserved = css({ visibility: 'hidden' });
