import type { Handler } from '../http/call.ts';
import { openApi } from '../http/openapi.ts';

export const openapi: Handler<'openapi'> = async ({ settings }) => Response.json(openApi(settings.SITE_URL));
