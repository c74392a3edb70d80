import { languages } from '#contract/languages';
import { planIds, type PlanId } from '#contract/plans';

/** Pages to which a sign-in leads back. */
const returnPaths = ['/chat', '/account', '/cancel', '/withdraw'] as const;
type ReturnPath = (typeof returnPaths)[number];

const keptParameters: Partial<Record<ReturnPath, Record<string, RegExp>>> = {
  '/account': { session_id: /^[\w-]{1,200}$/, status: /^[\w-]{1,40}$/ },
};

export type Destination = '/' | '/login' | '/pending-approval' | '/plans' | '/contact' | ReturnPath;

type ReturnPage = { to: ReturnPath; search: Record<string, string> };

/** Reads the address of such a page in any language; undefined for any other. */
export function readReturnPage(address: unknown): ReturnPage | undefined {
  if (typeof address !== 'string' || address.length > 500) return undefined;
  const [path = '', query = ''] = address.split('?');
  const start = languagePaths.find((each) => path.startsWith(`${each}/`)) ?? '';
  const plain = path.slice(start.length).replace(/\/$/, '');
  const to = returnPaths.find((each) => each === plain);
  if (!to) return undefined;
  return { to, search: takenParameters(to, new URLSearchParams(query)) };
}

const languagePaths = languages.map(({ path }) => path).filter(Boolean);

function takenParameters(to: ReturnPath, given: URLSearchParams): Record<string, string> {
  const taken: Record<string, string> = {};
  for (const [name, rule] of Object.entries(keptParameters[to] ?? {})) {
    const value = given.get(name);
    if (value !== null && rule.test(value)) taken[name] = value;
  }
  return taken;
}

/** Returns the value of `next`; undefined where the account follows. */
export function returnPage(address: unknown): string | undefined {
  const { to, search = {} } = readReturnPage(address) ?? {};
  if (Object.keys(search).length > 0) return `${to}?${new URLSearchParams(search).toString()}`;
  return to === '/account' ? undefined : to;
}

export type CheckoutSearch = { session_id?: string | undefined };

/** Names every parameter, since the router keeps the ones that are not named. */
export function checkoutSearch({ session_id }: Record<string, unknown>): CheckoutSearch {
  return { session_id: typeof session_id === 'string' && session_id ? session_id : undefined };
}

export type AfterSignIn = Lead & { toast: 'none' | 'success' | 'issue' };

export type SignInWishes = { plan?: string | undefined; next?: string | undefined };

/** Names every parameter, checked, since the router keeps the ones that are not named. */
export function signInWishes({ plan, next }: Record<string, unknown>): SignInWishes {
  return { plan: typeof plan === 'string' ? plan : undefined, next: returnPage(next) };
}

type Lead = { to: Destination; search?: Record<string, string> };

export function afterSignIn(
  status: string | null | undefined,
  { plan, next }: SignInWishes,
): AfterSignIn {
  if (isPlanId(plan)) return { to: '/account', toast: 'success' };
  if (!status || status === 'approved' || status === 'authenticated')
    return { to: '/account', ...readReturnPage(next), toast: 'none' };
  if (status === 'pending') return { to: '/pending-approval', toast: 'none' };
  return { to: '/', toast: 'issue' };
}

export function isPlanId(id: string | undefined): id is PlanId {
  return planIds.some((known) => known === id);
}
