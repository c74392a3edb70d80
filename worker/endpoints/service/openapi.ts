import type { Handler } from '../../http/handler.ts';
import { openApi } from '../../http/openapi.ts';

export const openapi: Handler<'openapi'> = async ({ settings }) => Response.json(openApi(settings.SITE_URL));
