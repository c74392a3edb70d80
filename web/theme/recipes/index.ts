export const recipes = {};
export const slotRecipes = {};
