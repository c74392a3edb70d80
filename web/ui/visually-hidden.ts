import { spoken } from '#styled/recipes';

export const visuallyHidden = spoken();
