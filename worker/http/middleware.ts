import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { cors } from 'hono/cors';
import type { RequestIdVariables } from 'hono/request-id';
import { secureHeaders } from 'hono/secure-headers';
import type { Env } from '../env.ts';
import type { Traffic } from '../lib/database.ts';
import { log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import { settingsOf, type Settings } from '../settings.ts';
import { codeOf } from './error-response.ts';

export type AppEnv = {
  Bindings: Env;
  Variables: RequestIdVariables & { requestLog: RequestLog; settings: Settings };
};
type Middleware = MiddlewareHandler<AppEnv>;

export const logRequest: Middleware = async (c, next) => {
  const requestLog = new RequestLog(c.get('requestId'));
  c.set('requestLog', requestLog);
  await next();
  const { headers, status } = c.res;
  headers.set('x-request-id', requestLog.requestId);
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
  headers.set('vary', 'Origin');
  // Pages show times by the server's clock. Cloudflare's
  // network sets this header too, workerd does not.
  headers.set('date', new Date().toUTCString());
  await requestLog.write(c.req.method, status);
};

/** Hono's other headers concern pages only. */
export const apiHeaders = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    frameAncestors: ["'none'"],
    sandbox: [],
  },
  strictTransportSecurity: 'max-age=31536000; includeSubDomains',
  crossOriginResourcePolicy: false,
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

export const requireSettings: Middleware = async (c, next) => {
  const settings = settingsOf(c.env);
  if (!settings) throw new RequestError('unavailable', { retryAfter: 60 });
  c.set('settings', settings);
  await next();
};

export function logRoute(path: string): Middleware {
  return (c, next) => {
    c.get('requestLog').route = path;
    return next();
  };
}

export function allowOrigins(methods: string[], credentials: boolean): Middleware {
  const preflight = {
    allowMethods: methods,
    allowHeaders: ['authorization', 'content-type'],
    maxAge: 86_400,
  };

  const exposeHeaders = ['x-request-id', 'retry-after', 'date'];
  const listed = cors({
    ...preflight,
    origin: (origin) => origin,
    exposeHeaders,
    credentials,
  });
  const unlisted = cors({ ...preflight, origin: () => null });

  return (c, next) => {
    const origin = c.req.header('origin');
    if (origin && c.get('settings').require('WEB_ORIGINS').includes(origin)) return listed(c, next);
    return c.req.method === 'OPTIONS' ? unlisted(c, next) : next();
  };
}

export function limitBody(maxSize: number): Middleware {
  const limit = bodyLimit({
    maxSize,
    onError: () => {
      throw new RequestError('bodyTooLarge');
    },
  });
  return (c, next) => limit(c, next).catch(refuseBody);
}

/** A sender that hangs up is no unexpected error. */
export function refuseBody(error: unknown): never {
  throw error instanceof RequestError ? error : new RequestError('invalidBody');
}

export class RequestLog {
  readonly requestId: string;
  readonly traffic: Traffic = { requests: 0, unreachable: false };
  readonly #started = Date.now();
  /** The route's pattern, never the address that was called. */
  route = 'none';
  phone: Promise<string> | undefined;
  error: RequestError | undefined;
  unexpected: Record<string, unknown> | undefined;

  constructor(requestId: string) {
    this.requestId = requestId;
  }

  async write(method: string, status: number): Promise<void> {
    const { requestId, route, traffic, error, unexpected } = this;
    const phone = await this.phone;
    log(unexpected ? 'error' : 'info', unexpected ? 'request_failed' : 'request_completed', {
      requestId,
      method,
      route,
      status,
      ms: Date.now() - this.#started,
      databaseRequests: traffic.requests,
      ...(traffic.outcome && { outcome: traffic.outcome }),
      ...(phone && { phone }),
      ...(error && { code: codeOf(error.errorName) }),
      ...(unexpected && { unexpected }),
    });
  }
}
