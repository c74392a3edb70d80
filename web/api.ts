import { endpoints, type Endpoint, type EndpointName, type Input, type Output } from '#contract/endpoints';
import { ApiError } from './api-error.ts';
import { apiBase } from './config.ts';
import { departures } from './departures.ts';
import { notify } from './notices.ts';
import { problemWords } from './rules/problem-words.ts';
import { session } from './session.ts';
import { tell } from './tell.ts';
import { usableToken } from './usable-token.ts';
import { problemsWords } from './words/session.ts';

type Arguments<Name extends EndpointName> =
  Input<Name> extends undefined
    ? []
    : (typeof endpoints)[Name] extends { inputOptional: true }
      ? [Input<Name>?]
      : [Input<Name>];
type Answer = { success?: boolean; message?: string; code?: string };

/** Calls whose page says the server's message under a title of its own. */
const toldByPage: ReadonlySet<EndpointName> = new Set(['deleteMe']);

/** Calls the API. A failure is thrown for the caller to tell, except the end of a session, which is told here. */
export async function request<Name extends EndpointName>(name: Name, ...input: Arguments<Name>): Promise<Output<Name>> {
  const endpoint: Endpoint = endpoints[name];
  const isProtected = endpoint.access === 'user';
  const token = isProtected ? usableToken() : null;
  const response = await send(endpoint, token, input[0]);
  const answer: Answer = await response.json().catch(() => ({}));
  if (!response.ok) throw problemOf(response.status, answer, token);
  const isTold = endpoint.method === 'GET' || toldByPage.has(name);
  if (!isTold && answer.success && answer.message) notify({ type: 'success', title: answer.message });
  return answer as Output<Name>;
}

/** The same, and a failure is shown as a notice before it is thrown. */
export async function call<Name extends EndpointName>(name: Name, ...input: Arguments<Name>): Promise<Output<Name>> {
  return request(name, ...input).catch((error: unknown) => {
    tell(error);
    throw error;
  });
}

async function send(endpoint: Endpoint, token: string | null, body: unknown): Promise<Response> {
  const headers = new Headers();
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  if (token) headers.set('Authorization', `Bearer ${token}`);
  return fetch(apiBase + endpoint.path, {
    method: endpoint.method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    mode: 'cors',
    credentials: 'omit',
    // A logout must reach the server even when the page is left at once.
    keepalive: endpoint.method === 'POST',
  }).catch(() => {
    throw new ApiError(problemsWords.network, { code: 'network' });
  });
}

function problemOf(status: number, answer: Answer, token: string | null): ApiError {
  const { error, notice } = problemWords(status, answer.message, token !== null);
  const problem = new ApiError(error, { notice, status, ...(answer.code ? { code: answer.code } : {}) });
  if (status === 401 && token !== null) endSession(problem, token);
  if (answer.code === 'pending_approval') awaitApproval(problem);
  return problem;
}

function endSession(problem: ApiError, token: string): void {
  const isCurrent = session.storedToken() === token;
  if (isCurrent) session.clear();
  if (isCurrent) tell(problem);
  problem.told = true;
  if (isCurrent) void departures.to('/login');
}

function awaitApproval(problem: ApiError): void {
  problem.told = true;
  const { user } = session.get();
  if (user) session.setUser({ ...user, status: 'pending' });
  void departures.to('/pending-approval');
}
