import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
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

export function controlError(status: 400 | 404, error: string): HTTPException {
  return new HTTPException(status, { res: Response.json({ error }, { status }) });
}

export const integer = (least: number, most: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));
