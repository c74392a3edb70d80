import { alert } from './alert.ts';
import { badge } from './badge.ts';
import { button } from './button.ts';
import { card } from './card.ts';
import { dialog } from './dialog.ts';
import { field } from './field.ts';
import { link } from './link.ts';
import { page } from './page.ts';
import { progress } from './progress.ts';
import { prose } from './prose.ts';
import { radioCards } from './radio-cards.ts';
import { skeleton } from './skeleton.ts';
import { spinner } from './spinner.ts';
import { toast } from './toast.ts';

export const recipes = { alert, badge, button, card, link, page, prose, skeleton, spinner };
export const slotRecipes = { dialog, field, progress, radioCards, toast };
