import { apiErrors, type ErrorBody, type ErrorName } from '../contract/errors.ts';
import type { Traffic } from '../lib/database.ts';
import { RequestError } from '../lib/request-error.ts';

export function toRequestError(error: unknown, traffic: Traffic): RequestError {
  if (error instanceof RequestError) return error;
  return new RequestError(traffic.unreachable ? 'unavailable' : 'internal');
}

export function codeOf(errorName: ErrorName): string {
  return apiErrors[errorName].code;
}

export function errorResponse({ errorName, details }: RequestError): Response {
  const { status, code, message } = apiErrors[errorName];
  const body: ErrorBody = {
    success: false,
    code,
    message: details.message ?? message,
    ...details.fields,
  };
  if (details.issues) body.issues = details.issues;

  const headers: Record<string, string> = {};
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  if (details.allow) headers['allow'] = details.allow;
  if (status === 503) headers['retry-after'] = String(details.retryAfter ?? 5);
  if (status === 429) headers['retry-after'] = String(details.retryAfter ?? 60);

  return Response.json(body, { status, headers });
}
