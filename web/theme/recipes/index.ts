import { alert } from './alert.ts';
import { badge } from './badge.ts';
import { button } from './button.ts';
import { card } from './card.ts';
import { dialog } from './dialog.ts';
import { field } from './field.ts';
import { link, prose } from './prose.ts';
import { page } from './page.ts';
import { progress, skeleton, spinner } from './loading.ts';
import { radioCards } from './radio-cards.ts';
import { toast } from './toast.ts';

export const recipes = { alert, badge, button, card, link, page, prose, skeleton, spinner };
export const slotRecipes = { dialog, field, progress, radioCards, toast };
