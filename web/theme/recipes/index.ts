import { alert, badge, card, dialog, page, toast } from './surfaces.ts';
import { button, field, radioCards } from './controls.ts';
import { link, prose, spoken } from './prose.ts';
import { progress, skeleton, spinner } from './loading.ts';

export const recipes = { alert, badge, button, card, link, page, prose, skeleton, spinner, spoken };
export const slotRecipes = { dialog, field, progress, radioCards, toast };
