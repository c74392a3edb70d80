import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import * as v from 'valibot';

/** The body of a control call; without one it is {}. Throws a 400 that says what is wrong with it. */
export async function readControl<T extends v.GenericSchema>(
  c: Context,
  schema: T,
): Promise<v.InferOutput<T>> {
  const isEmpty = (await c.req.text()) === '';
  const body: unknown = isEmpty ? {} : await c.req.json().catch(() => undefined);
  const { success, output, issues } = v.safeParse(schema, body);
  if (success) return output;
  throw controlError(400, `${v.getDotPath(issues[0]) ?? 'The body'}: ${issues[0].message}`);
}

export const controlError = (status: ContentfulStatusCode, error: string) =>
  jsonError(status, { error });

/** Ends a request with this response. */
export function jsonError(status: ContentfulStatusCode, body: object): HTTPException {
  return new HTTPException(status, {
    message: JSON.stringify(body),
    res: Response.json(body, { status }),
  });
}

export const integer = (least: number, most: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));
