import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import * as v from 'valibot';

/** The body of a control call; without one it is {}. Throws a 400 that says what to send. */
export async function readControl<Schema extends v.GenericSchema>(
  c: Context,
  schema: Schema,
  usage: string,
): Promise<v.InferOutput<Schema>> {
  const isEmpty = (await c.req.text()) === '';
  const body: unknown = isEmpty ? {} : await c.req.json().catch(() => undefined);
  const { success, output } = v.safeParse(schema, body);
  if (success) return output;
  throw controlError(400, `Send ${usage}`);
}

export const controlError = (status: ContentfulStatusCode, error: string) => jsonError(status, { error });

/** Ends a request with this response. */
export function jsonError(status: ContentfulStatusCode, body: object): HTTPException {
  return new HTTPException(status, { message: JSON.stringify(body), res: Response.json(body, { status }) });
}

export const integer = (least: number, most: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));
